"""The truth: the only code that reads and writes `canonical.*` tables.

What lives here: one module a kind of row, each function one statement or a few. Nothing here decides anything (that is
`promote`), and nothing here may import derived code: the derived layer can be deleted and rebuilt.
"""
