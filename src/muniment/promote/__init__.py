"""The write path: preserve evidence, compare, validate, promote. The only code that writes canonical memory.

What lives here: the decisions. Rows are written through `canonical`; derived rows through the `Follower` port, in the
same transaction. Nothing here may read derived code.
"""
