package ethernet

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/internal/cli"
)

// The program of the tests sends or hears packets in the namespace of a router, if it is told so.
const trafficVariable = "WEFT_TEST_TRAFFIC"

// every is how often a flow sends a packet; flows is how many there are, by source port.
const (
	every = 10 * time.Millisecond
	flows = 8
)

// asCommand has the program of the tests be weft.
const asCommand = "WEFT_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		cli.Main()
	}
	if words := strings.Fields(os.Getenv(trafficVariable)); len(words) > 0 {
		if err := traffic(words); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// traffic is send FROM TO COUNT, or hear COUNT: that prints how many packets of each flow are missing in a row at most, and in all.
func traffic(words []string) error {
	count, err := strconv.Atoi(words[len(words)-1])
	if err != nil {
		return err
	}
	if words[0] == "hear" {
		return hear(count)
	}
	var list []*net.UDPConn
	for f := range flows {
		c, err := net.DialUDP("udp4", &net.UDPAddr{IP: net.ParseIP(words[1]), Port: 40000 + f}, &net.UDPAddr{IP: net.ParseIP(words[2]), Port: 4791})
		if err != nil {
			return err
		}
		list = append(list, c)
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for i := range count {
		<-tick.C
		for f, c := range list {
			var b [8]byte
			binary.BigEndian.PutUint32(b[:], uint32(f))
			binary.BigEndian.PutUint32(b[4:], uint32(i))
			_, _ = c.Write(b[:]) // what is refused is lost as well
		}
	}
	return nil
}

func hear(count int) error {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{Port: 4791})
	if err != nil {
		return err
	}
	var there [flows][]bool
	for f := range there {
		there[f] = make([]bool, count)
	}
	end := time.Now().Add(time.Duration(count)*every + 10*time.Second)
	for last := false; !last; {
		if err := c.SetReadDeadline(end); err != nil {
			return err
		}
		var b [16]byte
		n, err := c.Read(b[:])
		if err != nil {
			break
		}
		if f, i := int(binary.BigEndian.Uint32(b[:])), int(binary.BigEndian.Uint32(b[4:])); n == 8 && f < flows && i < count {
			there[f][i] = true
			if i == count-1 { // the others of the last tick are on their way
				end = time.Now().Add(300 * time.Millisecond)
			}
		}
	}
	all, most := 0, 0
	for f := range there {
		row := 0
		for _, ok := range there[f] {
			if row++; ok {
				row = 0
			} else {
				all++
			}
			most = max(most, row)
		}
	}
	fmt.Println("missing", most, all)
	return nil
}

// lost has a leaf send to an address of another for a while, and does something meanwhile. It returns how many packets of a flow
// were lost in a row at most, and of all flows in all.
func (l *lab) lost(from, to, source, target string, during func()) (row, all int) {
	l.t.Helper()
	self, err := os.Executable()
	if err != nil {
		l.t.Fatal(err)
	}
	const ticks = 250
	command := func(router string, words ...any) *exec.Cmd {
		c := exec.CommandContext(l.t.Context(), "ip", "netns", "exec", l.tag+router, self)
		c.Env = append(os.Environ(), trafficVariable+"="+strings.TrimSpace(fmt.Sprintln(words...)))
		return c
	}
	var out strings.Builder
	hears := command(to, "hear", ticks)
	hears.Stdout = &out
	if err := hears.Start(); err != nil {
		l.t.Fatal(err)
	}
	time.Sleep(700 * time.Millisecond)
	sends := command(from, "send", source, target, ticks)
	if err := sends.Start(); err != nil {
		l.t.Fatal(err)
	}
	time.Sleep(600 * time.Millisecond)
	during()
	if err := sends.Wait(); err != nil {
		l.t.Fatal(err)
	}
	if err := hears.Wait(); err != nil {
		l.t.Fatal(err)
	}
	at := strings.Index(out.String(), "missing")
	if at < 0 {
		l.t.Fatalf("nothing was heard: %s", out.String())
	}
	if _, err := fmt.Sscanf(out.String()[at:], "missing %d %d", &row, &all); err != nil {
		l.t.Fatal(err)
	}
	return row, all
}

// failover breaks what a pin comes down by: next to the sender, where its own router knows at once, and two hops away, where BGP
// has to say it. Nothing is lost when a cable comes back, nor when all pins of a leaf are moved.
func (l *lab) failover(p pin) {
	t := l.t
	t.Helper()
	from := l.c.leaves[0]
	target := strings.TrimSuffix(p.prefix, "/32")
	idle := 250
	for range 3 {
		row, _ := l.lost(from, p.leaf, "10.1.0.1", target, func() {})
		if idle = min(idle, row); idle == 0 {
			break
		}
	}
	if idle == 250 {
		t.Log("the kernel here forwards nothing between namespaces")
		return
	} else if idle > 0 {
		t.Logf("%d packets in a row are lost while nothing happens: this machine is too busy to say more", idle)
		return
	}
	// With three tiers the sender's router has the pin from the device of its own pod that is below the pin's top.
	next, away := p.up[0], [2]string{p.leaf, p.up[0]}
	if len(p.up) > 1 {
		away = [2]string{p.up[0], p.up[1]}
		for _, d := range l.above(from) {
			if slices.Contains(l.above(d), p.up[1]) {
				next = d
			}
		}
	}
	for _, c := range []struct {
		what  string
		cable [2]string
		limit int // packets of a flow in a row
	}{{"next to the sender", [2]string{from, next}, 1}, {"two hops away", away, 20}} {
		least := 250
		for range 3 { // other programs may keep a router from its work: the best of some counts
			row, _ := l.lost(from, p.leaf, "10.1.0.1", target, func() { l.set([][2]string{c.cable}, "down") })
			up, _ := l.lost(from, p.leaf, "10.1.0.1", target, func() { l.set([][2]string{c.cable}, "up") })
			t.Logf("%s, pinned, a cable %s dies: %v without packets; when it comes back %v", l.c.name, c.what, time.Duration(row)*every, time.Duration(up)*every)
			if least = min(least, max(row, up)); least <= c.limit {
				break
			}
			l.settle("pinned, a cable back")
		}
		if least > c.limit {
			t.Errorf("%s: a cable %s dies, or comes back: %v without packets, more than %v", l.c.name, c.what, time.Duration(least)*every, time.Duration(c.limit)*every)
		}
		l.settle("pinned, a cable back")
	}
	least := 250
	for range 3 {
		row, all := l.lost(from, p.leaf, "10.1.0.1", target, func() { l.move(p.leaf) })
		t.Logf("%s: all pins of %s moved under traffic: %d of %d packets lost", l.c.name, p.leaf, all, 250*flows)
		if least = min(least, row); least == 0 {
			break
		}
	}
	if least > 0 {
		t.Errorf("%s: %d packets in a row are lost when pins are moved", l.c.name, least)
	}
	l.settle("pins moved")
}

// move pins what a leaf has to the next device above it.
func (l *lab) move(leaf string) {
	for i := range l.pins {
		p := &l.pins[i]
		if p.leaf != leaf {
			continue
		}
		above := l.above(leaf)
		p.up = []string{above[(slices.Index(above, p.up[0])+1)%len(above)]}
		if tops := l.above(p.up[0]); len(tops) > 0 {
			p.up = append(p.up, tops[0])
		}
	}
	l.tell(false)
}
