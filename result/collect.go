package result

import "time"

// CollectDevice is how a device answered. It is written beside the files of the device, and all together for the run.
type CollectDevice struct {
	Device  string        `json:"device"`
	Address string        `json:"address"`
	System  string        `json:"system,omitempty"` // what runs there, with its version
	Error   string        `json:"error,omitempty"`  // why there is nothing of it; empty: its folder is there
	Kept    bool          `json:"kept,omitempty"`   // from a run before
	Taken   time.Time     `json:"taken"`
	Seconds float64       `json:"seconds"`
	Files   []CollectFile `json:"files"`
}

// CollectFile is a file of a device.
type CollectFile struct {
	File    string `json:"file,omitempty"` // empty: missing
	What    string `json:"what"`
	Command string `json:"command,omitempty"`
	Bytes   int    `json:"bytes,omitempty"`
	Missing string `json:"missing,omitempty"` // why, and what follows
}

// Collect is what weft collect prints.
type Collect struct {
	Inventory  string          `json:"inventory"`
	Out        string          `json:"out"`
	Devices    int             `json:"devices"`
	Whole      int             `json:"whole"`
	Kept       int             `json:"kept"`
	Failed     int             `json:"failed"`
	Seconds    float64         `json:"seconds"`
	Unreadable string          `json:"unreadable,omitempty"` // what keeps the folder from being read as a network
	Records    []CollectDevice `json:"records"`
}
