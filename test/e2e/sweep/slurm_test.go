package sweep

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-fabric/weft/internal/testnet"
)

func itoa(n int) string { return strconv.Itoa(n) }

func atoi(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// cluster is a Slurm of its own: munged, slurmctld and two slurmd of one CPU each, all on this
// machine and its loopback, in a folder of its own.
type cluster struct{ dir string }

// slurmConf is its configuration; %[1]s is its folder, %[2]s the name of this machine.
// cred_expire is in seconds, and so long does a task wait that lost its node; by default two
// minutes.
const slurmConf = `ClusterName=weft
SlurmctldHost=%[2]s(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=%[1]s/munge/sock,cred_expire=5
CryptoType=crypto/munge
SlurmUser=root
SlurmdUser=root
SlurmctldPort=%[3]d
StateSaveLocation=%[1]s/state
SlurmctldPidFile=%[1]s/ctld.pid
SlurmctldLogFile=%[1]s/ctld.log
SlurmdPidFile=%[1]s/slurmd.%%n.pid
SlurmdLogFile=%[1]s/slurmd.%%n.log
SlurmdSpoolDir=%[1]s/spool.%%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=1,defer
ReturnToService=2
KillWait=1
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName=n1 NodeHostname=%[2]s NodeAddr=127.0.0.1 Port=%[4]d CPUs=1 State=UNKNOWN
NodeName=n2 NodeHostname=%[2]s NodeAddr=127.0.0.1 Port=%[5]d CPUs=1 State=UNKNOWN
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
`

func startCluster(t *testing.T) *cluster {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a Slurm of its own needs root")
	}
	for _, tool := range []string{"munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "setpriv"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s: apt-get install slurmctld slurmd slurm-client munge", tool)
		}
	}
	dir, err := os.MkdirTemp("", "slurm") // short: the path of a socket has 107 letters
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c := &cluster{dir}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	port := freePorts(t, 3)
	c.shell(t, `chmod 755 . && mkdir -p munge state spool.n1 spool.n2 && head -c 1024 /dev/urandom >munge/key && chown -R munge munge && chmod 755 munge && chmod 400 munge/key`)
	conf := fmt.Sprintf(slurmConf, dir, host, port[0], port[1], port[2])
	if err := os.WriteFile(filepath.Join(dir, "slurm.conf"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLURM_CONF", filepath.Join(dir, "slurm.conf"))
	munge := "munge/"
	c.daemon(t, "setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", "munged", "--foreground", "--key-file="+filepath.Join(dir, munge+"key"),
		"--socket="+filepath.Join(dir, munge+"sock"), "--pid-file="+filepath.Join(dir, munge+"pid"), "--log-file="+filepath.Join(dir, munge+"log"), "--seed-file="+filepath.Join(dir, munge+"seed"))
	until(t, "socket of munged", func() bool { _, err := os.Stat(filepath.Join(dir, munge+"sock")); return err == nil })
	c.daemon(t, "slurmctld", "-D", "-f", filepath.Join(dir, "slurm.conf"))
	for _, node := range []string{"n1", "n2"} {
		c.daemon(t, "slurmd", "-D", "-N", node, "-f", filepath.Join(dir, "slurm.conf"))
	}
	until(t, "node", func() bool {
		out, err := exec.Command("sinfo", "--noheader", "--states=idle", "--format=%D").Output()
		return err == nil && strings.TrimSpace(string(out)) == "2"
	})
	return c
}

// freePorts is numbers of ports that nobody listens at.
func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// daemon starts a process of the cluster, which ends with the test.
func (c *cluster) daemon(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			_ = cmd.Process.Kill() // likewise
			<-ended
		}
	})
}

func (c *cluster) shell(t *testing.T, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir = c.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

// running is a task that runs on a node, as JOB_TASK; empty if there is none.
func running(node string) string {
	out, err := exec.Command("squeue", "--noheader", "--array", "--states=RUNNING", "--nodelist="+node, "--format=%F_%K").Output()
	if err != nil {
		return ""
	}
	task, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return task
}

// A campaign on a cluster where a task is killed, a node is drained, another is lost with its
// task, and the one who follows is killed: nothing is lost, and nothing taken twice.
func TestCampaignOnACluster(t *testing.T) {
	testnet.OnlyWhole(t)
	if testing.Short() {
		t.Skip("starts a cluster")
	}
	cluster := startCluster(t)
	c := newCampaign(t)
	flags := []string{"--slurm", "--tasks=8", "--array-limit=2", "--partition=main", "--every=300ms", "--sbatch=--comment=a test"}
	p := c.start(t, flags...)
	t.Cleanup(func() { _ = exec.Command("scancel", "--signal=KILL", "--full", "--partition=main").Run() }) // a test that failed leaves some

	killed := map[string]bool{}
	until(t, "task that was killed and is submitted again", func() bool {
		if task := running("n1"); task != "" && lines(c.out) > 0 && !killed[task] {
			killed[task] = true
			_ = exec.Command("scancel", "--signal=KILL", "--full", task).Run() // it may have ended, then another is killed
		}
		return strings.Contains(p.errs.String(), "is submitted again")
	})

	cluster.shell(t, "scontrol update nodename=n1 state=drain reason=test")
	had := lines(c.out)
	until(t, "point on the other node", func() bool { return lines(c.out) > had && running("n2") != "" })
	// Nothing more begins while followers come and go, so that there is something left for what follows.
	cluster.shell(t, "scontrol update nodename=n2 state=drain reason=test")
	p.kill()
	p = c.start(t, flags...)
	until(t, "follower", func() bool { return strings.Contains(p.errs.String(), "named weft-") })
	second := c.start(t, flags...)
	if err := second.end(t); err == nil || !strings.Contains(second.errs.String(), "another weft sweep --slurm") {
		t.Errorf("two follow one campaign: %v %s", err, &second.errs)
	}

	cluster.shell(t, "scontrol update nodename=n1 state=resume")
	had = lines(c.out)
	lost := ""
	until(t, "further point on the node that is back", func() bool {
		lost = running("n1")
		return lost != "" && lines(c.out) > had
	})
	cluster.shell(t, "scontrol update nodename=n1 state=down reason=lost")
	until(t, "end of the task on the lost node", func() bool { return running("n1") != lost })
	cluster.shell(t, "scontrol update nodename=n2 state=resume")
	_ = exec.Command("scontrol", "update", "nodename=n1", "state=resume").Run() // it may be back by itself

	s := p.whole(t)
	if s.Points != points || s.Rows != 2*points {
		t.Errorf("%+v\n%s", s, &p.errs)
	}
	once(t, filepath.Join(c.out, "shards"))
	if text := p.errs.String(); strings.Contains(text, "got no further") {
		t.Error(text)
	}
	if d := cmp.Diff(undisturbed(t), values(t, c.weft, c.out)); d != "" {
		t.Error(d)
	}
	left, err := exec.Command("squeue", "--noheader").Output()
	if err != nil || len(bytes.TrimSpace(left)) > 0 {
		t.Errorf("left in the queue: %s (%v)", left, err)
	}
	if s := c.start(t, flags...).whole(t); s.Rows != 2*points {
		t.Errorf("a finished campaign, followed again: %+v", s)
	}
	refused := newCampaign(t).start(t, "--slurm", "--partition=nowhere")
	if err := refused.end(t); err == nil || !strings.Contains(refused.errs.String(), "invalid partition") {
		t.Errorf("a partition that is not there: %v %s", err, &refused.errs)
	}
}
