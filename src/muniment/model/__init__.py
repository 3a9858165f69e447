"""The nouns: frozen types, identifiers and access rules.

What lives here: values that every other folder passes round. Nothing here may open a connection, read a clock or a
file, or import from the rest of the package except `muniment.time` and `muniment.errors`.
"""
