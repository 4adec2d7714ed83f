"""The caller's side: an order is posted, followed, and what came of it taken in."""
