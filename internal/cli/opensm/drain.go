package opensm

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/flags"
	"github.com/weft-fabric/weft/internal/list"
	"github.com/weft-fabric/weft/internal/opensm/daemon"
	"github.com/weft-fabric/weft/internal/opensm/wire"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/result"
)

// liveFlags is the flags of weft drain --live and weft undrain.
type liveFlags struct {
	live         bool
	socket       string
	after, until time.Duration
	timeout      time.Duration // how long the daemon may answer nothing
	force, json  bool
	all          bool
}

// Drain adds --live to c, the command weft drain of package changes, and returns it: with the flag it
// orders a running daemon to drain, without it c does what it did.
func Drain(a *console.Console, c *cobra.Command) *cobra.Command {
	var o liveFlags
	planned, args, f := c.RunE, c.Args, c.Flags()
	f.BoolVar(&o.live, "live", false, "do it: have a running weft serve lead all traffic away from these parts, step by step through OpenSM, and say when they can be pulled")
	f.StringVar(&o.socket, "socket", defaultSocket, "of --live: Unix socket of the daemon")
	f.DurationVar(&o.after, "after", 0, "of --live: begin so much later, such as 2h30m")
	addTimeout(f, &o.timeout, "of --live: ")
	f.DurationVar(&o.until, "for", 0, "of --live: bring the parts back by themselves so long after that (default: weft undrain does)")
	f.Lookup("force").Usage += "; with --live, drain also where hosts would be cut off, or where a restart would forget the order"
	c.Use = "drain FABRIC --tables DIR | drain --live SWITCH|NAME:PORT…"
	c.Long += `

With --live there is no file and no folder: the daemon that OpenSM's plugin asks makes
the same plan from the tables in use, carries it out, and keeps the parts free over
sweeps and restarts until weft undrain. It refuses where somebody would be cut off when
the parts are pulled, unless --force. Ctrl-C takes back what was begun. A daemon that
plans is waited for; one that answers nothing for --timeout is not (exit code 3): if it
had not taken the order by then, it refuses it when it goes on.`
	c.Example += `
  weft drain --live spine-3
  weft drain --live leaf-7:12 --after 3h --for 45m`
	c.Args = func(cmd *cobra.Command, list []string) error {
		if !o.live {
			if len(list) > 0 && !f.Changed("tables") && !isFile(list[0]) {
				return exit.Usage("%s is no file with a network; in the network that runs, weft drain --live %s drains it", list[0], strings.Join(list, " "))
			}
			return args(cmd, list)
		}
		delete(f.Lookup("tables").Annotations, cobra.BashCompOneRequiredFlag)
		return cobra.MinimumNArgs(1)(cmd, list)
	}
	c.RunE = func(cmd *cobra.Command, parts []string) error {
		wrong := []string{"socket", "after", "for", "timeout"} // flags of the other of the two
		if o.live {
			wrong = []string{"tables", "switch", "cable", "steps", "back-steps"}
		}
		for _, name := range wrong {
			switch {
			case f.Changed(name) && o.live:
				return exit.Usage("--%s is for plans in files; with --live parts are named by themselves, as in weft drain --live spine-3 leaf-7:12", name)
			case f.Changed(name):
				return exit.Usage("--%s is for --live", name)
			}
		}
		if !o.live {
			return planned(cmd, parts)
		}
		if o.after < 0 || o.until < 0 {
			return exit.Usage("--after and --for are not negative")
		}
		if err := o.checkTimeout(); err != nil {
			return err
		}
		var err error
		if o.force, err = f.GetBool("force"); err != nil {
			return err
		}
		if o.json, err = f.GetBool("json"); err != nil {
			return err
		}
		return live(cmd.Context(), a, &o, daemon.Order{Do: daemon.DrainOrder, Parts: parts, After: o.after, For: o.until, Force: o.force})
	}
	return c
}

// addTimeout adds --timeout.
func addTimeout(f *pflag.FlagSet, timeout *time.Duration, of string) {
	f.DurationVar(timeout, "timeout", 2*time.Minute, of+"give up once the daemon has answered nothing for so long")
}

func (o *liveFlags) checkTimeout() error {
	if o.timeout <= 0 {
		return exit.Usage("--timeout is positive, such as 5m")
	}
	return nil
}

// isFile reports whether there is a file or folder of a name.
func isFile(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// Undrain makes the command weft undrain.
func Undrain(a *console.Console) *cobra.Command {
	var o liveFlags
	c := &cobra.Command{
		Use:   "undrain SWITCH|NAME:PORT… | --all",
		Short: "Have traffic use parts again that weft drain --live took out of use",
		Long: `Have the running weft serve bring traffic back to parts that were drained, to the tables
of before as far as the network is as it was, in steps each of which is proven while it is
written. Ctrl-C only ends the waiting, and so does --timeout (exit code 3).`,
		Example: `  weft undrain spine-3
  weft undrain --all`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, parts []string) error {
			if (len(parts) == 0) != o.all {
				return exit.Usage("name what comes back, or give --all")
			}
			if err := o.checkTimeout(); err != nil {
				return err
			}
			return live(cmd.Context(), a, &o, daemon.Order{Do: daemon.UndrainOrder, Parts: parts})
		},
	}
	c.Flags().BoolVar(&o.all, "all", false, "all parts that are drained")
	c.Flags().StringVar(&o.socket, "socket", defaultSocket, "Unix socket of the daemon")
	addTimeout(c.Flags(), &o.timeout, "")
	flags.AddJSON(c.Flags(), &o.json)
	return c
}

// live is weft drain --live and weft undrain: it gives an order, follows it until it is carried out,
// and prints what came of it.
func live(ctx context.Context, a *console.Console, o *liveFlags, order daemon.Order) error {
	begun := time.Now()
	if order.Do == daemon.DrainOrder {
		order.ID = rand.Text() // by which it alone is taken back
	}
	said, err := giveAgain(ctx, a, o, order)
	switch {
	case err != nil && ctx.Err() != nil: // whether the daemon has the order is not known
		return interrupted(context.WithoutCancel(ctx), a, o, &order)
	case err != nil:
		return err
	}
	r := &result.DrainLive{Do: order.Do, Refused: said.Refused, Parts: said.Parts, Steps: said.Steps, Entries: said.Entries, Cut: said.Cut, Kept: said.Kept, Before: said.Before}
	names := strings.Join(list.Of(r.Parts, func(p result.Drained) string { return p.Part }), ", ")
	if len(r.Parts) == 0 { // nothing was found by what was ordered
		names = strings.Join(order.Parts, ", ")
	}
	if r.Refused == "" && order.After == 0 {
		if order.Do == daemon.DrainOrder {
			a.Tell("%s: %s in %s; Ctrl-C takes it back", names, words.Counted(r.Entries, "entry of forwarding tables", "entries of forwarding tables"), words.Plural(r.Steps, "step"))
		}
		err = follow(ctx, a, o, &order, r)
	}
	r.Seconds = time.Since(begun).Seconds()
	if err != nil {
		return err
	}
	return a.Answer(o.json, r, func() error { return showLive(a, r, names) }, r.Refused != "" || slices.ContainsFunc(r.Parts, stillUsed))
}

// restartTime is how long a daemon that does not answer may be about to begin anew.
const restartTime = 5 * time.Second

// giveAgain gives an order to a daemon that may be restarting: until restartTime is over it tries again where
// there is no answer. Where the daemon took the order without answering, giving it once more changes nothing.
func giveAgain(ctx context.Context, a *console.Console, o *liveFlags, order daemon.Order) (*daemon.Ordered, error) {
	for begun, again := time.Now(), false; ; again = true {
		said, err := giveWhileItAnswers(ctx, a, o, order)
		switch {
		case err == nil && again && said.Used: // the first order was taken
			said.Refused = ""
			return said, nil
		case err == nil || ctx.Err() != nil || errors.Is(err, os.ErrPermission) || errors.As(err, new(*silent)) || time.Since(begun) > restartTime:
			return said, err
		case !again:
			a.Tell("%v; it is asked again for %s", err, words.Seconds(restartTime.Seconds()))
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(lookAgain):
		}
	}
}

// silent is the error of a daemon that answered nothing for too long.
type silent struct {
	socket string
	after  time.Duration
	order  string // what becomes of the order
}

func (e *silent) Error() string {
	return fmt.Sprintf("the daemon at %s has answered nothing for %v (--timeout): it was stopped, or has no time; %s", e.socket, e.after, e.order)
}

// giveWhileItAnswers gives an order once, and waits for the answer as long as the daemon, which may plan for a while, says
// how it is.
func giveWhileItAnswers(ctx context.Context, a *console.Console, o *liveFlags, order daemon.Order) (*daemon.Ordered, error) {
	waiting, hangUp := context.WithCancelCause(ctx)
	defer hangUp(nil)
	go func() {
		told := ""
		tell := func(text string) {
			if text != told && waiting.Err() == nil {
				a.Tell("%s", text)
				told = text
			}
		}
		for heard := time.Now(); waiting.Err() == nil; {
			left := o.timeout - time.Since(heard)
			if left <= 0 {
				hangUp(&silent{o.socket, o.timeout, "it refuses the order when it goes on, since nobody waits for the answer: weft status tells"})
				return
			}
			select {
			case <-waiting.Done():
				return
			case <-time.After(min(statusTime, left/2)):
			}
			asking, cancel := context.WithDeadline(waiting, heard.Add(o.timeout))
			_, err := statusOf(asking, o.socket)
			cancel()
			if err == nil {
				heard = time.Now()
				tell("the daemon plans still; Ctrl-C ends the waiting")
				continue
			}
			tell(fmt.Sprintf("the daemon does not answer: it was stopped, or has no time; it is waited for until it has answered nothing for %v (--timeout), and Ctrl-C ends the waiting", o.timeout))
		}
	}()
	said, err := give(waiting, o.socket, order)
	if quiet := (*silent)(nil); err != nil && errors.As(context.Cause(waiting), &quiet) {
		if order.Do != daemon.DrainOrder {
			quiet.order = "it may carry the order out when it goes on: weft status tells"
		}
		return nil, quiet
	}
	return said, err
}

// give gives an order once.
func give(ctx context.Context, socket string, order daemon.Order) (*daemon.Ordered, error) {
	text, err := wire.GiveOrder(ctx, socket, order)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, doesNotAnswer(socket, "order")
	case err != nil:
		return nil, noDaemon(socket, err)
	}
	var said daemon.Ordered
	if err := json.Unmarshal(text, &said); err != nil {
		return nil, fmt.Errorf("%s: %w", socket, err)
	}
	return &said, nil
}

// noDaemon is the error where no daemon answered.
func noDaemon(socket string, err error) error {
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("%s answers the members of its group only: %w", socket, err)
	}
	var at *net.OpError
	if errors.As(err, &at) && at.Op != "dial" { // its text has the path at which the daemon made the socket
		err = at.Err
	}
	return fmt.Errorf("no daemon answers at %s: %w", socket, err)
}

// doesNotAnswer is the error where a daemon is there, and does not answer in time.
func doesNotAnswer(socket, what string) error {
	return fmt.Errorf("the daemon at %s has taken the %s, and does not answer: it was stopped, or has no time", socket, what)
}

// statusTime is how long a daemon may take to say how it is.
const statusTime = 10 * time.Second

// statusOf asks a daemon how it is.
func statusOf(ctx context.Context, socket string) (*result.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, statusTime)
	defer cancel()
	text, err := wire.AskStatus(ctx, socket)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, doesNotAnswer(socket, "question")
	case err != nil:
		return nil, noDaemon(socket, err)
	}
	var s result.Status
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", socket, err)
	}
	return &s, nil
}

// lookAgain is how often the daemon is asked how far it is.
const lookAgain = 250 * time.Millisecond

// follow waits until an order is carried out, or a part turns out to be still used, and tells how far it
// is. It sets the states of r.Parts, and r.Done. Where the wait is interrupted a drain is taken back.
func follow(ctx context.Context, a *console.Console, o *liveFlags, order *daemon.Order, r *result.DrainLive) error {
	told := ""
	tell := func(text string) {
		if text != told {
			a.Tell("%s", text)
			told = text
		}
	}
	for heard := time.Now(); ; {
		select {
		case <-ctx.Done():
			return interrupted(context.WithoutCancel(ctx), a, o, order)
		case <-time.After(lookAgain):
		}
		asking, cancel := context.WithDeadline(ctx, heard.Add(o.timeout))
		s, err := statusOf(asking, o.socket)
		cancel()
		switch {
		case ctx.Err() != nil:
			continue
		case err != nil && time.Since(heard) >= o.timeout:
			stands := "the order stands: weft status tells how far it is"
			if order.Do == daemon.DrainOrder {
				stands += ", and weft undrain " + strings.Join(order.Parts, " ") + " takes it back"
			}
			return &silent{o.socket, o.timeout, stands}
		case err != nil:
			tell(fmt.Sprintf("%v; it is asked again, for %v (--timeout)", err, o.timeout))
			continue
		}
		heard = time.Now()
		if s.Start {
			continue
		}
		states := map[string]bool{} // that some part has; "": it is not drained any more
		for i := range r.Parts {
			p := &r.Parts[i]
			p.State = ""
			for _, d := range s.Drained {
				if d.Place == p.Place {
					*p = d
				}
			}
			states[p.State] = true
		}
		switch {
		case order.Do == daemon.DrainOrder && states[""]:
			return errors.New("somebody else took the order back: weft status")
		case s.Settled && !states[daemon.Waiting] && !states[daemon.Leaving]:
			r.Done = !states[daemon.StillUsed]
			return nil
		case states[daemon.StillUsed]:
			return nil
		}
		tell(progressOf(s))
	}
}

// progressOf is how far a plan is, in a line.
func progressOf(s *result.Status) string {
	switch p := s.Plan; {
	case !s.OpenSM:
		return "OpenSM is not there, or its plugin is of an earlier release: it goes on when OpenSM sweeps"
	case s.Last != nil && s.Last.Refusal != "":
		return "OpenSM's last question was refused: " + s.Last.Refusal
	case p == nil:
		return "waiting for OpenSM's question"
	case p.Ended == nil:
		return fmt.Sprintf("%s handed over, at least %d to follow, %s after the last", words.Plural(p.Steps, "step"), p.More, words.Seconds(p.Wait))
	}
	return "all steps are handed over; waiting until switches have confirmed the last and earlier packets are gone"
}

// interrupted takes a drain back after Ctrl-C, and no more than that: what was drained before it stays so. ctx is one that has
// not ended. The error has no text, since the root would add to one that nothing was written.
func interrupted(ctx context.Context, a *console.Console, o *liveFlags, order *daemon.Order) error {
	ended := &exit.Error{Code: exit.Interrupted}
	if order.Do != daemon.DrainOrder {
		a.Tell("interrupted; what the daemon was told stands: weft status tells how far it is")
		return ended
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	said, err := give(ctx, o.socket, daemon.Order{Do: daemon.UndrainOrder, ID: order.ID})
	switch {
	case err != nil:
		a.Tell("interrupted; the order may stand, since %v: weft status tells, and weft undrain %s takes it back", err, strings.Join(order.Parts, " "))
	case said.Refused != "":
		a.Tell("interrupted: %s", said.Refused)
	default:
		a.Tell("interrupted, and taken back: %s", takenBack(said, time.Now()))
	}
	return ended
}

// takenBack says how parts stand whose draining was taken back.
func takenBack(said *daemon.Ordered, now time.Time) string {
	var all, used []string
	for _, was := range said.Before {
		all = append(all, "as before, "+beforeText(&was, now))
	}
	for _, p := range said.Parts {
		if !slices.ContainsFunc(said.Before, func(was result.Drained) bool { return was.Place == p.Place }) {
			used = append(used, p.Part)
		}
	}
	if len(used) > 0 {
		all = append(all, fmt.Sprintf("traffic uses %s again, step by step (weft status)", strings.Join(used, ", ")))
	}
	return strings.Join(all, "; ")
}

// beforeText is a part that was drained already, or to be, by an earlier order.
func beforeText(was *result.Drained, now time.Time) string {
	if was.After.After(now) {
		return fmt.Sprintf("%s: was to be drained from %s on, by %s", was.Part, was.After.Local().Format(time.DateTime), was.By)
	}
	return fmt.Sprintf("%s: drained since %s, by %s", was.Part, was.After.Local().Format(time.DateTime), was.By)
}

// backAndGone is parts that are not drained any more, by whether the network has them.
func backAndGone(parts []result.Drained) (back, gone []string) {
	for _, p := range parts {
		if p.Gone {
			gone = append(gone, p.Part)
		} else {
			back = append(back, p.Part)
		}
	}
	return back, gone
}

// stillUsed reports whether traffic uses a part that was to be drained, and no step could change that.
func stillUsed(p result.Drained) bool { return p.State == daemon.StillUsed }

// showLive prints what came of an order for people; names is the parts.
func showLive(a *console.Console, r *result.DrainLive, names string) error {
	p := a.NewPage()
	p.Fact(r.Do, "%s", cmp.Or(names, "all"))
	for _, was := range r.Before {
		p.Fact("already", "%s", beforeText(&was, time.Now()))
	}
	switch {
	case r.Refused != "":
		p.Fact("refused", "%s", r.Refused)
	case r.Do == daemon.UndrainOrder:
		there, gone := backAndGone(r.Parts)
		if len(there) > 0 {
			what := "it"
			if len(gone) > 0 {
				what = strings.Join(there, ", ")
			}
			p.Fact("done", "traffic uses %s again; all switches have confirmed that, in %s", what, words.Seconds(r.Seconds))
		}
		if len(gone) > 0 {
			p.Fact("gone", "%s: it is drained no longer, and will carry traffic once it is back", strings.Join(gone, ", "))
		}
	case !r.Done && slices.ContainsFunc(r.Parts, stillUsed):
		for _, part := range r.Parts {
			if stillUsed(part) {
				p.Fact("still used", "%s: %s", part.Part, part.Why)
			}
		}
	case !r.Done:
		p.Fact("begins", "%s: %s by the tables of now", r.Parts[0].After.Local().Format(time.DateTime), words.Plural(r.Steps, "step"))
	case r.Steps == 0:
		p.Fact("done", "it was free of traffic before: no table had to be changed")
	default:
		p.Fact("done", "it is free of traffic: all switches have confirmed %s, in %s", words.Plural(r.Steps, "step"), words.Seconds(r.Seconds))
	}
	if len(r.Cut) > 0 {
		p.Fact("cut off", "%s when it is pulled: %s", words.Plural(len(r.Cut), "endpoint"), words.FirstWith(r.Cut, "--json has all"))
	}
	if r.Kept != "" {
		forgets := "forgets the order, and traffic uses it again"
		if r.Do == daemon.UndrainOrder {
			forgets = "drains it again"
		}
		p.Finding("careful", "a restart of the daemon %s: %s", forgets, r.Kept)
	}
	if r.Do == daemon.DrainOrder && r.Refused == "" {
		stays := "over sweeps and restarts"
		if r.Kept != "" {
			stays = "over sweeps, until the daemon is restarted"
		}
		until := "it stays drained " + stays + "; weft undrain brings it back"
		if len(r.Parts) > 0 && r.Parts[0].Until != nil {
			until = "it comes back by itself at " + r.Parts[0].Until.Local().Format(time.DateTime) + "; weft undrain brings it back before"
		}
		if r.Done {
			until = "pull it now; " + until
		}
		p.Fact("next", "%s", until)
	}
	return a.Show(p)
}
