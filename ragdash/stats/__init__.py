"""Statistics of paired per-query differences: intervals, the bootstrap, planning. Arrays in, numbers out; no state."""
