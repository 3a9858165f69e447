"""PostgreSQL: starting or reaching it, its schema, its sessions, and the named statements.

What lives here: connections, migrations, settings of a transaction, SQL text. Nothing here knows what a claim means;
nothing here may import from `canonical` or above.
"""
