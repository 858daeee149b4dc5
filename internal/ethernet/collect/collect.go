// Package collect gathers a folder from the devices of a network over ssh: routes, interfaces, neighbors and configurations,
// for package folder to read.
//
// It runs the system's ssh, one session a device: whoever runs a network has host keys, jump hosts, certificates, agents and
// hardware keys in ssh's own configuration, which a client of weft's own would have to learn again, and would be one more to
// trust with keys. Host keys are checked, and nobody is asked for a password.
//
// A device is asked by a script of sh on its standard input, which writes nothing there. What commands print is read by
// the readers of package folder before it counts; where one cannot be read, the next is tried, such as older ones, or the same by sudo.
// Devices whose shell is a command line of their own (Arista's EOS) are asked command by command.
//
// The folder of a device appears when all its files are there, with a record of what was asked, and so a run that was
// killed can be resumed. Where all are asked anew, their folders take the place of those that are there when the last has
// answered, and not before: a run that is interrupted leaves the answers of one day, not of two. Passwords and keys in
// configurations are left out.
package collect

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/whole"
	"github.com/weft-fabric/weft/result"
)

// Options say how devices are asked.
type Options struct {
	VRF        string        // whose routes; empty: default
	Parallel   int           // devices at a time; at least 1
	Timeout    time.Duration // for a device
	Config     string        // configuration of ssh; empty: the user's
	KnownHosts string        // host keys; empty: as ssh is configured
	AcceptNew  bool          // host keys that nobody knows are taken and kept; those that changed never are
	SSH        string        // the program; empty: ssh
	Resume     bool          // devices that are there are not asked
	Force      bool          // all are asked anew; of those that do not answer nothing stays
	Progress   func(done, total int)
}

// Name is what the files of records are called.
const Name = "collect.json"

const unfinished = ".collecting" // the folder of folders that are not whole

// Run gathers the folder dir from devices, for weft collect. It returns how each device answered, in the order of devices; an error is
// about the folder, not about one of them.
func Run(ctx context.Context, dir string, devices []Device, o Options) ([]result.CollectDevice, error) {
	o.VRF, o.SSH = cmp.Or(o.VRF, "default"), cmp.Or(o.SSH, "ssh")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	lock, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("%s: another weft collect is at work on it", reading.Printable(dir))
	}
	r := &run{o: o, root: root, records: make([]result.CollectDevice, len(devices))}
	if err := r.resume(); err != nil {
		return nil, err
	}
	there, err := r.before(dir)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(root.RemoveAll(unfinished), root.Mkdir(unfinished, 0o700)); err != nil {
		return nil, err
	}
	exchanging := false // what is left of it the next run ends
	defer func() {
		if !exchanging {
			_ = root.RemoveAll(unfinished)
		}
	}()
	r.askAll(ctx, devices, there)
	switch err := ctx.Err(); {
	case err != nil:
		return nil, err
	case !o.Force:
		return r.records, whole.Write(root, Name, 0o600, whole.JSON(r.records))
	case r.unwritten != nil:
		return nil, r.unwritten
	}
	if err := whole.Write(root, filepath.Join(unfinished, Name), 0o600, whole.JSON(r.records)); err != nil {
		return nil, err
	}
	exchanging = true
	return r.records, r.finish(r.records)
}

// askAll asks the devices, several at a time, until the context ends; there has the records of those that need not be asked again.
func (r *run) askAll(ctx context.Context, devices []Device, there map[string]result.CollectDevice) {
	next := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range min(max(r.o.Parallel, 1), len(devices)) {
		wg.Go(func() {
			for i := range next {
				if old, ok := there[devices[i].Name]; ok && r.o.Resume {
					old.Kept = true
					r.records[i] = old
				} else {
					r.records[i] = r.device(ctx, &devices[i])
				}
				mu.Lock()
				done++
				if r.o.Progress != nil {
					r.o.Progress(done, len(devices))
				}
				mu.Unlock()
			}
		})
	}
	for i := range devices {
		select {
		case next <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	wg.Wait()
}

type run struct {
	o       Options
	root    *os.Root
	records []result.CollectDevice

	mu        sync.Mutex
	unwritten error // why a folder could not be written, under Force
}

// resume ends what a run that asked all anew was at when it was killed, if all had answered.
func (r *run) resume() error {
	text, err := r.record(unfinished)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var records []result.CollectDevice
	if err == nil {
		err = json.Unmarshal(text, &records)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(unfinished, Name), err)
	}
	return r.finish(records)
}

// finish puts the answers of a run that asked all anew in place of those that are there.
func (r *run) finish(records []result.CollectDevice) error {
	err := r.exchange(records)
	if err == nil {
		err = whole.Write(r.root, Name, 0o600, whole.JSON(records))
	}
	if err == nil {
		err = r.root.RemoveAll(unfinished)
	}
	return err
}

// exchange puts the folders of the devices that answered in place of those that are there, and removes those of the devices
// that did not. Done twice, it does no more.
func (r *run) exchange(records []result.CollectDevice) error {
	for i := range records {
		at, name := filepath.Join(unfinished, records[i].Device), records[i].Device
		_, err := r.root.Lstat(at)
		switch {
		case err == nil:
			err = r.root.RemoveAll(name)
			if err == nil {
				err = r.root.Rename(at, name)
			}
		case errors.Is(err, fs.ErrNotExist) && records[i].Error != "":
			err = r.root.RemoveAll(name)
		case errors.Is(err, fs.ErrNotExist): // it has its place already
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// before is the records of the devices that are in the folder already. It refuses a folder that holds anything else, and without Resume
// or Force one that holds devices.
func (r *run) before(dir string) (map[string]result.CollectDevice, error) {
	d, err := r.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	there := map[string]result.CollectDevice{}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() || strings.HasPrefix(name, ".") {
			continue // such as qos.yaml, which stays
		}
		text, err := r.record(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s holds %s, which weft collect did not gather; choose another folder", reading.Printable(dir), reading.Printable(name))
		}
		var record result.CollectDevice
		if err == nil {
			err = json.Unmarshal(text, &record)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", reading.Printable(filepath.Join(dir, name, Name)), err)
		}
		there[name] = record
	}
	if len(there) > 0 && !r.o.Resume && !r.o.Force {
		return nil, fmt.Errorf("%s is not empty; --resume asks the devices that are missing, --force all of them anew", reading.Printable(dir))
	}
	return there, nil
}

// record is the text of a device's record.
func (r *run) record(device string) ([]byte, error) {
	name := filepath.Join(device, Name)
	f, err := r.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return reading.ReadAll(f, name, reading.MaxSettings)
}

// device asks a device, and puts its folder in place if it answered. The record says whether it did.
func (r *run) device(ctx context.Context, d *Device) result.CollectDevice {
	begin := time.Now()
	ctx, cancel := context.WithTimeout(ctx, r.o.Timeout)
	defer cancel()
	a, err := r.ask(ctx, d)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("it did not answer within %v (--timeout)", r.o.Timeout)
	case err == nil && ctx.Err() != nil:
		err = ctx.Err()
	}
	record := result.CollectDevice{Device: d.Name, Address: d.Address, Taken: begin.UTC().Truncate(time.Second), Files: []result.CollectFile{}}
	if err == nil {
		record.System, record.Files, err = a.system(), a.list(), a.lacks()
	}
	record.Seconds = float64(time.Since(begin).Milliseconds()) / 1000
	if err == nil {
		if err = r.place(d.Name, &record, a); err != nil {
			r.mu.Lock()
			r.unwritten = err
			r.mu.Unlock()
		}
	}
	if err != nil {
		record.Error = reading.Printable(err.Error())
	}
	return record
}

// place writes the files of a device into a folder that is not whole yet, and then gives it its name; under Force that is
// done when all have answered, or a verdict would be about two days.
func (r *run) place(name string, record *result.CollectDevice, a *answers) error {
	at := filepath.Join(unfinished, name)
	if err := r.root.Mkdir(at, 0o700); err != nil {
		return err
	}
	for i := range files {
		if text := a.text[i]; text != nil {
			err := whole.Write(r.root, filepath.Join(at, files[i].fileName()), 0o600, func(w io.Writer) error { _, err := w.Write(text); return err })
			if err != nil {
				return err
			}
		}
	}
	if err := whole.Write(r.root, filepath.Join(at, Name), 0o600, whole.JSON(record)); err != nil {
		return err
	}
	if r.o.Force {
		return nil
	}
	return r.root.Rename(at, name)
}

// answers is what a device said.
type answers struct {
	text    [len(files)][]byte
	command [len(files)]string
	why     [len(files)]string // it is missing
	version string
}

// ask asks for all files.
func (r *run) ask(ctx context.Context, d *Device) (*answers, error) {
	var random [12]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, err
	}
	mark := "weft-" + hex.EncodeToString(random[:])
	out, err := r.session(ctx, d, "sh -s", script(mark, r.o.VRF, r.o.Timeout))
	answered := bytes.Contains(out, []byte(mark)) // a shell ran the script
	if err != nil && !answered && !notShell.Match(out) {
		return nil, err
	}
	a := &answers{}
	if !answered {
		return a, r.askEOS(ctx, d, a, out)
	}
	if err := a.parse(out, mark); err != nil {
		return nil, err
	}
	return a, nil
}

// notShell is what command lines of devices say to sh.
var notShell = regexp.MustCompile(`(?i)% ?(?:invalid|unknown|incomplete|ambiguous|unrecognized)`)

// askEOS asks a device whose shell is the command line of EOS, command by command; said is what it said to sh.
func (r *run) askEOS(ctx context.Context, d *Device, a *answers, said []byte) error {
	out, err := r.session(ctx, d, "show version | json", "")
	var version struct{ Version, ModelName string }
	if err != nil || json.Unmarshal(out, &version) != nil || version.Version == "" {
		return fmt.Errorf("its shell is neither sh nor the command line of EOS: to sh it said %q, to show version | json %q", tail(said), tail(out))
	}
	a.version = "EOS " + version.Version
	for i := range files {
		if files[i].eos == "" {
			continue
		}
		command := inVRF(files[i].eos, r.o.VRF)
		out, err := r.session(ctx, d, command, "")
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			a.why[i] = fmt.Sprintf("%s: %v", command, err)
		default:
			a.take(i, command, out)
		}
	}
	return nil
}

// take keeps what a command printed as file i if it can be read, or else why not.
func (a *answers) take(i int, command string, text []byte) {
	text = files[i].kept(text)
	if err := files[i].checked(text); err != nil {
		a.why[i] = fmt.Sprintf("%s: %v", command, err)
		return
	}
	a.text[i], a.command[i], a.why[i] = text, command, ""
}

// parse reads what the script printed. Lines that begin with the mark say: try, a command for a file; file, its output follows, until
// end; no, it failed, and what it printed follows; done. What commands say of errors comes before file and no.
func (a *answers) parse(out []byte, mark string) error {
	begin := []byte(mark + " ")
	var body, heard bytes.Buffer         // since the last line with the mark; what a command said of errors
	which, command, status := -1, "", "" // the file asked for, by which command, and how that failed
	lines := bufio.NewReader(bytes.NewReader(out))
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			return errors.New("the session ended before the device had said everything")
		}
		if !bytes.HasPrefix(line, begin) {
			body.Write(line)
			continue
		}
		words := strings.SplitN(strings.TrimSpace(string(line[len(begin):])), " ", 3)
		if status != "" { // of the command before, whose output is over
			a.failed(which, command, status, cmp.Or(tail(body.Bytes()), tail(heard.Bytes())))
			status = ""
		}
		switch words[0] {
		case "try":
			which = slices.IndexFunc(files[:], func(f file) bool { return len(words) > 2 && f.name == words[1] })
			if which < 0 {
				return errors.New("its answer is not one of the script that was sent")
			}
			command = words[2]
			heard.Reset()
		case "file":
			heard.Write(body.Bytes())
		case "no":
			if which < 0 {
				return errors.New("its answer is not one of the script that was sent")
			}
			heard.Write(body.Bytes())
			status = words[len(words)-1]
		case "end":
			text := append(bytes.TrimRight(body.Bytes(), "\n"), '\n') // a mark has an empty line before it
			if words[len(words)-1] == "version" {
				a.version = string(text)
			} else if which >= 0 && a.text[which] == nil {
				a.take(which, command, bytes.Clone(text))
			}
		case "done":
			return nil
		}
		body.Reset()
	}
}

// failed notes why a command did not print file i: status is the exit status, or form where the output was not what it should be. That a
// program is not there is said only if no other got further.
func (a *answers) failed(i int, command, status, said string) {
	missing := status == "127"
	switch {
	case missing:
		said = "there is no such program"
	case said == "" && status == "form":
		said = "it printed nothing"
	case said == "":
		said = "exit status " + status
	}
	if a.why[i] == "" || !missing && !strings.HasPrefix(command, "sudo ") {
		a.why[i] = command + ": " + said
	}
}

// tail is the end of what was said, on one line.
func tail(text []byte) string {
	lines := strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' || r == '\r' })
	const most = 160
	for i := len(lines) - 1; i >= 0; i-- {
		if s := strings.TrimSpace(lines[i]); s != "" {
			return reading.Printable(s[:min(len(s), most)])
		}
	}
	return ""
}

// What says of a device what runs there.
var (
	frrVersion     = regexp.MustCompile(`(?m)^(FRRouting|Quagga) (\S+)`)
	sonicVersion   = regexp.MustCompile(`(?m)^build_version:\s*'?"?([^'"\s]+)`)
	cumulusVersion = regexp.MustCompile(`(?s)Cumulus Linux.*?(?:DISTRIB_RELEASE|VERSION_ID)="?([0-9.]+)`)
)

// system is what runs on a device, with its version; unknown if it does not say.
func (a *answers) system() string {
	if strings.HasPrefix(a.version, "EOS ") {
		return reading.Printable(a.version)
	}
	var parts []string
	if m := sonicVersion.FindStringSubmatch(a.version); m != nil {
		parts = append(parts, "SONiC "+m[1])
	} else if m := cumulusVersion.FindStringSubmatch(a.version); m != nil {
		parts = append(parts, "Cumulus Linux "+m[1])
	}
	if m := frrVersion.FindStringSubmatch(a.version); m != nil {
		parts = append(parts, strings.Replace(m[1], "FRRouting", "FRR", 1)+" "+m[2])
	}
	if parts == nil {
		return "unknown"
	}
	return reading.Printable(strings.Join(parts, ", "))
}

// list is the files of a device, with those that are missing unless only SONiC has them and this is another system.
func (a *answers) list() []result.CollectFile {
	list := []result.CollectFile{}
	for i := range files {
		f := &files[i]
		switch {
		case a.text[i] != nil:
			list = append(list, result.CollectFile{File: f.fileName(), What: f.what, Command: a.command[i], Bytes: len(a.text[i])})
		case f.sonic && !sonicVersion.MatchString(a.version):
		default:
			missing := cmp.Or(a.why[i], "it is not asked for on such a device")
			if f.lacking != "" {
				missing += "; " + f.lacking
			}
			list = append(list, result.CollectFile{What: f.what, Missing: reading.Printable(missing)})
		}
	}
	return list
}

// lacks is an error if a file is missing without which nothing can be judged.
func (a *answers) lacks() error {
	for i := range files {
		if files[i].needed && a.text[i] == nil {
			return fmt.Errorf("no %s: %s", files[i].what, cmp.Or(a.why[i], "there is no command for them"))
		}
	}
	return nil
}
