"""Agent files: text → document, diagnostics, graph, fixes, other harnesses' files. Nothing here reads the disk."""
