"""From what was said to candidate claims: text in, typed candidates with their spans out.

What lives here: the port (`port`), the extractors behind it (`rules`, `model`), and what they share about language
(`stance`, `dates`, `echo`). Nothing here decides what becomes of a candidate (that is `promote`) or knows a database.
"""
