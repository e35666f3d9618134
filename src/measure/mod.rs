//! Measures: similarity of texts, and mirroring.
