"""Readers: files to evidence drafts, one item at a time.

What lives here: a module for each file format, the port they share, and the registry that picks one for a file. A
reader opens no database, stores nothing, decides nothing about access and reads no clock; it imports nothing from the
rest of the package but `muniment.model` and `muniment.time`. A broken item becomes an `Unread` with its place and a
code, and never costs the items beside it.
"""
