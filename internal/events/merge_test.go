package events

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weft-fabric/weft/result"
)

// What both daemons noted is there once, and what only one noted is not lost.
func TestMerge(t *testing.T) {
	t.Parallel()
	begin := time.Unix(1000000, 0)
	at := func(seconds int, from, what, part string) result.Event {
		e := result.Event{At: begin.Add(time.Duration(seconds) * time.Second), From: from, What: what}
		if part != "" {
			e.Part = &result.Element{Kind: "cable", Name: part, GUID: part, Port: 1}
		}
		return e
	}
	by := func(e result.Event, who string) result.Event { e.By = who; return e }
	for _, c := range []struct {
		name string
		all  []result.Event
		want string
	}{
		{"an outage that both saw", []result.Event{
			at(0, "serve", Gone, "a"), at(0, "serve", Repair, ""), at(9, "watch", Gone, "a"), by(at(9, "watch", Changed, ""), ByServe),
			at(60, "serve", Came, "a"), at(60, "serve", Return, ""), at(70, "watch", Came, "a"), by(at(70, "watch", Changed, ""), ByServe),
		}, "0 gone serve watch; 0 repair serve watch; 60 came serve watch; 60 return serve watch"},
		{"two steps, seen by two looks, one of them first", []result.Event{
			at(1, "serve", Drained, ""), at(3, "serve", Drained, ""), by(at(4, "watch", Changed, ""), ByServe), by(at(5, "watch", Changed, ""), ByServe),
			by(at(299, "watch", Changed, ""), ByServe), at(300, "serve", Return, ""),
		}, "1 drained serve; 3 drained serve watch; 300 return serve watch"},
		{"a cable that flaps faster than is looked", []result.Event{
			at(0, "serve", Gone, "a"), at(5, "serve", Came, "a"), at(8, "serve", Gone, "a"), at(9, "watch", Gone, "a"), at(15, "serve", Came, "a"), at(20, "watch", Came, "a"),
		}, "0 gone serve; 5 came serve; 8 gone serve watch; 15 came serve watch"},
		{"a cable that flaps between two looks", []result.Event{
			at(0, "watch", Flapped, "a"), at(1, "serve", Gone, "a"), at(2, "serve", Came, "a"), at(50, "serve", Gone, "a"), at(51, "serve", Came, "a"), at(90, "watch", Flapped, "a"),
			at(91, "watch", Flapped, "b"),
		}, "1 gone serve watch; 2 came serve; 50 gone serve watch; 51 came serve; 91 flapped watch"},
		{"a look that is late", []result.Event{
			at(0, "serve", Gone, "a"), at(5, "serve", Came, "a"), at(9, "watch", Gone, "a"), at(20, "watch", Came, "a"),
		}, "0 gone serve watch; 5 came serve watch"},
		{"a daemon that begins late finds the same", []result.Event{
			at(0, "watch", Gone, "a"), at(5000, "serve", Gone, "a"), at(5100, "watch", Came, "a"), at(5101, "serve", Came, "a"), at(9000, "serve", Gone, "a"),
		}, "0 gone watch serve; 5100 came watch serve; 9000 gone serve"},
		{"others are others", []result.Event{
			at(0, "serve", Gone, "a"), at(1, "watch", Gone, "b"), at(1, "watch", Alarm, ""), at(2, "serve", Begin, ""), at(3, "watch", Begin, ""),
			at(4, "serve", Repair, ""), by(at(5, "watch", Changed, ""), "OpenSM"), at(6, "watch", Changed, ""), by(at(900, "watch", Changed, ""), ByServe),
		}, "0 gone serve; 1 gone watch; 1 alarm watch; 2 begin serve; 3 begin watch; 4 repair serve; 5 changed watch; 6 changed watch; 900 changed watch"},
	} {
		var serve, watch []result.Event
		for _, e := range c.all {
			if e.From == "serve" {
				serve = append(serve, e)
			} else {
				watch = append(watch, e)
			}
		}
		for _, lists := range [][][]result.Event{{serve, watch}, {watch, serve}} {
			var got []string
			for _, e := range Merge(lists...) {
				got = append(got, fmt.Sprint(int(e.At.Sub(begin).Seconds()), " ", e.What, " ", strings.Join(append([]string{e.From}, e.Also...), " ")))
			}
			if text := strings.Join(got, "; "); text != c.want {
				t.Errorf("%s: %s, want %s", c.name, text, c.want)
			}
		}
	}
}
