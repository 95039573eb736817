"""What outlives a session: a store of bytes by their digest."""
