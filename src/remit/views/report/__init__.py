"""Reports: a run as an HTML or Markdown file. `content` has the words that both share.

Everything that agents wrote is plain text in these files.
"""
