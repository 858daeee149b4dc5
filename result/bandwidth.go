package result

// Bandwidths is effective bisection bandwidth before and after a change, as parts of
// full, among the endpoints that are there before and after; nil: fewer than two.
type Bandwidths struct {
	Before *float64        `json:"before"`
	After  *float64        `json:"after"`
	Tiers  []TierBandwidth `json:"tiers"`
	Jobs   []JobBandwidth  `json:"jobs"`
}

// TierBandwidth is what the trunks from switches of one level to those of another leave the
// flows that cross them; nil: no flow does.
type TierBandwidth struct {
	From           int      `json:"from_level"`
	To             int      `json:"to_level"`
	ChannelsBefore int      `json:"channels_before"`
	ChannelsAfter  int      `json:"channels_after"`
	Before         *float64 `json:"before"`
	After          *float64 `json:"after"`
}

// JobBandwidth is the bandwidth of random pairs of a job's endpoints that stay, without
// other traffic; nil: fewer than two.
type JobBandwidth struct {
	Name   string   `json:"name"`
	Ranks  int      `json:"ranks"`
	Stay   int      `json:"ranks_left"`
	Before *float64 `json:"before"`
	After  *float64 `json:"after"`
}
