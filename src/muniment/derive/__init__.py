"""The derived layer: what is made from canonical memory for speed, and can be thrown away.

What lives here: one module a derivation, the engine that keeps them in step with canonical writes, drift and rebuild.
Everything here reads canonical rows and writes `derived.*`; nothing here may write canonical memory or decide a claim.
"""
