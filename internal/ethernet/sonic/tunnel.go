package sonic

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/weft-fabric/weft/internal/ethernet/lined"
)

// Tunnel is the tunnel of a dual-ToR switch for hosts whose cable to its peer is the active one.
type Tunnel struct {
	Peer    netip.Addr
	Servers []netip.Prefix // behind cables that may be standby
	DSCP    *[TCs]uint8    // of the outer header by traffic class; nil: that of the inner header
	Queue   *[TCs]uint8    // of wrapped packets by traffic class; nil: as the port has it
	TC      *[64]uint8     // of packets to be unwrapped, by the outer DSCP; nil: as the port has it
	Group   *[TCs]uint8    // priority group of packets to be unwrapped, by traffic class; nil: as the port has it
}

// readTunnel sets c.Tunnel if the switch has a peer and hosts behind cables that may be standby.
func (c *Config) readTunnel(v *lined.Value) error {
	t := &Tunnel{}
	err := each(v, "PEER_SWITCH", func(key string, row *lined.Value) error {
		address, err := row.String("address_ipv4")
		if err != nil {
			return err
		}
		if t.Peer, err = netip.ParseAddr(address); err != nil {
			return row.Errorf("PEER_SWITCH|%s: address_ipv4 %q is not an address", key, address)
		}
		return nil
	})
	if err != nil || !t.Peer.IsValid() {
		return err
	}
	err = each(v, "MUX_CABLE", func(key string, row *lined.Value) error {
		for _, field := range [...]string{"server_ipv4", "server_ipv6", "soc_ipv4", "soc_ipv6"} {
			text, err := row.String(field)
			if err != nil {
				return err
			}
			if text == "" {
				continue
			}
			prefix, err := netip.ParsePrefix(text)
			if err != nil {
				return row.Errorf("MUX_CABLE|%s: %s %q is not one such as 192.168.0.2/32", key, field, text)
			}
			t.Servers = append(t.Servers, prefix.Masked())
		}
		return nil
	})
	if err != nil || len(t.Servers) == 0 {
		return err
	}
	slices.SortFunc(t.Servers, func(a, b netip.Prefix) int { return cmp.Or(a.Addr().Compare(b.Addr()), a.Bits()-b.Bits()) })
	t.Servers = slices.Compact(t.Servers)
	c.Tunnel = t
	return each(v, "TUNNEL", func(_ string, row *lined.Value) error {
		mode, err := row.String("dscp_mode")
		if err != nil {
			return err
		}
		if mode != "uniform" {
			for _, field := range [...]string{"encap_tc_to_dscp_map", "encap_tc_color_to_dscp_map"} {
				if row.Get(field) != nil {
					t.DSCP = &[TCs]uint8{}
					if err := fill(v, row, field, "TC_TO_DSCP_MAP", t.DSCP[:], 63); err != nil {
						return err
					}
				}
			}
		}
		return t.readMaps(v, row)
	})
}

// readMaps reads the maps for queues of wrapped packets, and for priority groups of those to be
// unwrapped.
func (t *Tunnel) readMaps(v, row *lined.Value) error {
	if row.Get("encap_tc_to_queue_map") != nil {
		t.Queue = &Plain(0).Queue
		if err := fill(v, row, "encap_tc_to_queue_map", "TC_TO_QUEUE_MAP", t.Queue[:], TCs-1); err != nil {
			return err
		}
	}
	if row.Get("decap_dscp_to_tc_map") != nil {
		t.TC = &[64]uint8{}
		if err := fill(v, row, "decap_dscp_to_tc_map", "DSCP_TO_TC_MAP", t.TC[:], TCs-1); err != nil {
			return err
		}
	}
	if row.Get("decap_tc_to_pg_map") == nil {
		return nil
	}
	t.Group = &Plain(0).Group
	return fill(v, row, "decap_tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", t.Group[:], TCs-1)
}
