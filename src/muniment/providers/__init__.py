"""Models behind small ports: embedders now, rerankers and language models later.

What lives here: adapters to model runtimes. Nothing here knows the database or what a claim is; heavy libraries are
imported when a model is first used, not before.
"""
