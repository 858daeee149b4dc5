package result

// Packets is the output of weft packets --json.
type Packets struct {
	Fabric     Fabric       `json:"fabric"`
	Engine     string       `json:"engine,omitempty"`
	Tables     string       `json:"tables,omitempty"`
	Then       []string     `json:"then,omitempty"` // tables written over them during the runs
	Preset     string       `json:"preset"`
	Traffic    string       `json:"traffic"`
	Ranks      int          `json:"ranks"`
	VLs        int          `json:"vls"` // as lanes_used
	Used       int          `json:"lanes_used"`
	Classes    int          `json:"classes,omitempty"` // as of weft route
	Buffer     int          `json:"buffer_bytes"`
	MTU        int          `json:"mtu"`
	Seed       uint64       `json:"seed"`
	Runs       []PacketsRun `json:"runs"`
	Saturation *Saturation  `json:"saturation,omitempty"`
	Fit
	Seconds float64 `json:"seconds"`
}

// PacketsRun is one run of packets. Times are nanoseconds of network time.
type PacketsRun struct {
	Offered   float64        `json:"offered,omitempty"`
	Accepted  float64        `json:"accepted"`
	Status    string         `json:"status"`
	Latency   Latency        `json:"latency_ns"`
	Hops      float64        `json:"hops"`
	Packets   int64          `json:"packets"`
	Dropped   int64          `json:"dropped"`
	WarmUp    float64        `json:"warm_up_ns"`
	Window    float64        `json:"window_ns"`
	Makespan  float64        `json:"makespan_ns,omitempty"`
	Busiest   []BusyLane     `json:"busiest,omitempty"`
	Classes   []LatencyClass `json:"histogram,omitempty"`
	Deadlock  *Deadlock      `json:"deadlock,omitempty"`
	BlockHops int64          `json:"block_hops"`
	InNetwork int64          `json:"packets_in_network"`
	Created   int64          `json:"packets_created"`
}

// Latency is from when a packet is made until it has arrived, in nanoseconds.
type Latency struct {
	Mean    float64 `json:"mean"`
	Error   float64 `json:"error_95"`
	Network float64 `json:"network"` // without the wait at the source
	P50     float64 `json:"p50"`
	P90     float64 `json:"p90"`
	P99     float64 `json:"p99"`
	P999    float64 `json:"p999"`
	Max     float64 `json:"max"`
}

// LatencyClass counts the packets whose latency is at most EndPS, in picoseconds, and above that of
// the class before.
type LatencyClass struct {
	EndPS   int64 `json:"end_ps"`
	Packets int64 `json:"packets"`
}

// BusyLane is how full a lane of a channel was.
type BusyLane struct {
	NamedChannel
	VL     int     `json:"vl"`
	Busy   float64 `json:"busy"`
	Blocks float64 `json:"mean_blocks"`
	Peak   int     `json:"peak_blocks"`
}

// Saturation is the largest load that is delivered, and what the next one tried came to.
type Saturation struct {
	Load     float64 `json:"load"`
	Accepted float64 `json:"accepted"`
	Above    float64 `json:"not_delivered,omitempty"`
	Status   string  `json:"status,omitempty"`
}

// Deadlock is what stopped a run.
type Deadlock struct {
	ClosedNS float64         `json:"closed_ns"`
	FoundNS  float64         `json:"found_ns"`
	Buffers  int             `json:"buffers"`
	Packets  int             `json:"packets"`
	Cycle    []BlockedBuffer `json:"cycle"`
}

// BlockedBuffer is a buffer that waits for the next one of a circle.
type BlockedBuffer struct {
	NamedChannel
	VL      uint8           `json:"vl"`
	Output  bool            `json:"output_buffer,omitempty"`
	Used    int             `json:"blocks_used"`
	Packets []BlockedPacket `json:"packets"`
}

// BlockedPacket is a packet that will never move.
type BlockedPacket struct {
	Pair
	SL      uint8   `json:"sl"`
	Bytes   int     `json:"bytes"`
	Created float64 `json:"created_ns"`
}

// Replay is the output of weft packets --replay-cycle --json.
type Replay struct {
	Verdict string         `json:"verdict"`
	Cycle   []Step         `json:"cycle"`
	Packets int            `json:"packets"` // offered
	Attempt int            `json:"attempt,omitempty"`
	Run     *PacketsRun    `json:"run,omitempty"`
	Matches bool           `json:"stopped_on_judged_cycle"`
	Proven  []ProvenReplay `json:"proven,omitempty"` // under other engines
}

// ProvenReplay is the same traffic under another engine: one that is proven, or was
// asked for.
type ProvenReplay struct {
	Engine   string  `json:"engine"`
	Verdict  string  `json:"verdict,omitempty"` // if it routes the fabric
	Status   string  `json:"status"`
	Makespan float64 `json:"makespan_ns,omitempty"`
	Refused  string  `json:"refused,omitempty"`
}
