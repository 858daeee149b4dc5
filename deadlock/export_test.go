package deadlock

// Followed is how many destinations the last verdict looked at.
func (m *Memory) Followed() int { return m.followed }
