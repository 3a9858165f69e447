"""The guided example that `muniment demo` runs: a small mailbox, a corrected figure, and the story told with them."""
