package routing

import (
	"fmt"
	"strconv"
	"strings"
)

// Contract says which service levels (SLs) clients use. The zero Contract is
// Honored.
//
// An adapter does not choose an SL for each packet: a connection has one in each
// direction. The side that opens a connection asks the subnet manager for a PathRecord
// and uses its SL. The passive side of a connection made by RDMA-CM or IB-CM does not
// ask: it uses the SL of the request (Linux, drivers/infiniband/core/cm.c,
// cm_format_paths_from_req), and OpenSM marks the records reversible, which permits
// this. So packets from s to d may use the SL that the tables give s for d, or the one
// that they give d for s.
//
// An address of d that s must not use (NoSL) is taken by no packet of s under Honored and
// Directed, answers included: d is taken to open connections from addresses only by which
// it may be answered. OpenSM can neither withhold a PathRecord nor make clients choose so;
// therefore no such tables are handed to it (internal/opensm/deploy, internal/opensm/wire).
type Contract struct {
	kind contractKind
	sl   uint8
}

type contractKind uint8

const (
	honored contractKind = iota
	directed
	single
	anySL
)

// The contracts that need no number.
var (
	// Honored: clients use the SL of the PathRecord, and the passive side of a connection
	// may use the SL of the request, except to addresses that it must not use (NoSL).
	Honored = Contract{}
	// Directed: each side uses the SL of its own PathRecord. Papers on layered routing
	// assume this.
	Directed = Contract{kind: directed}
	// Any: each client may use any SL.
	Any = Contract{kind: anySL}
)

// Single is the contract that every client uses one SL.
func Single(sl uint8) Contract { return Contract{kind: single, sl: sl} }

// ParseLevels reads service levels with commas between, or "any" for all, as bits.
func ParseLevels(text string) (uint16, error) {
	if text == "any" {
		return 1<<SLs - 1, nil
	}
	mask := uint16(0)
	for _, item := range strings.Split(text, ",") {
		sl, err := strconv.ParseUint(strings.TrimSpace(item), 10, 8)
		if err != nil || sl >= SLs {
			return 0, fmt.Errorf("%q is no service level from 0 to %d", item, SLs-1)
		}
		mask |= 1 << sl
	}
	return mask, nil
}

// FixedMask is the SLs that a client may use, as bits, if that does not depend on the
// tables (fixed); else 0.
func (c Contract) FixedMask() (mask uint16, fixed bool) {
	switch c.kind {
	case single:
		return 1 << c.sl, true
	case anySL:
		return 1<<SLs - 1, true
	}
	return 0, false
}

// EitherWay reports whether a path may also be taken on the SL of the opposite direction.
func (c Contract) EitherWay() bool { return c.kind == honored }

// Covers reports whether tables that are free of deadlock under c are also free of
// deadlock under other, because other permits clients nothing that c does not.
func (c Contract) Covers(other Contract) bool {
	return c == other || c.kind == anySL || c.kind == honored && other.kind == directed
}

func (c Contract) String() string {
	switch c.kind {
	case directed:
		return "directed"
	case single:
		return "single:" + strconv.Itoa(int(c.sl))
	case anySL:
		return "any"
	}
	return "honored"
}

// ParseContract reads honored, directed, any or single:N.
func ParseContract(s string) (Contract, error) {
	for _, c := range []Contract{Honored, Directed, Any} {
		if s == c.String() {
			return c, nil
		}
	}
	if n, ok := strings.CutPrefix(s, "single:"); ok {
		if sl, err := strconv.ParseUint(n, 10, 8); err == nil && sl < SLs {
			return Single(uint8(sl)), nil
		}
	}
	return Contract{}, fmt.Errorf("a contract is honored, directed, any or single:N with N from 0 to 15, not %q", s)
}
