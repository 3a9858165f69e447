"""Reading: clocks, routes, fusion, verification against canonical memory, resolution by scope, assembly of a payload.

What lives here: everything between a question and a cited answer. Nothing here writes, and nothing leaves that was not
read from canonical memory under row-level security.
"""
