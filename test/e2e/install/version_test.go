package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// repository is a repository of its own with what says the version.
func repository(t *testing.T) (dir string, git func(args ...string) string) {
	t.Helper()
	need(t, "git", "bash")
	dir = t.TempDir()
	for _, name := range []string{"build/scripts/version.sh", "internal/cli/internal/version/archived.txt", ".gitattributes"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), string(text))
	}
	at := 1_800_000_000
	git = func(args ...string) string {
		t.Helper()
		at += 10 // seconds between commits
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_COMMITTER_DATE=@"+strconv.Itoa(at)+" +0000")
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, text)
		}
		return strings.TrimSpace(string(text))
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "first")
	return dir, git
}

// Versions sort in the order in which they were made, by dpkg's rules and by rpm's.
func TestVersionsSort(t *testing.T) {
	t.Parallel()
	dir, git := repository(t)
	version := func() string { return run(t, dir, "bash", "build/scripts/version.sh", "version") }
	commit := func() { git("commit", "-q", "--allow-empty", "-m", "more") }
	made := []string{version()}
	for range 11 { // a count would go from one digit to two
		commit()
	}
	made = append(made, version())
	write(t, filepath.Join(dir, "internal/cli/internal/version/archived.txt"), "changed\n")
	made = append(made, version())
	git("checkout", "-q", ".")
	for _, tag := range []string{"v1.2.0-rc.1", "v1.2.0-rc.2", "v1.2.0", "v1.10.0"} {
		commit()
		git("tag", tag)
		made = append(made, version())
		commit()
		made = append(made, version())
		commit()
		made = append(made, version())
	}
	snapshot := `\+20\d{12}\.g[0-9a-f]{12}$`
	for i, want := range []string{`^0\.0\.0` + snapshot, `^0\.0\.0` + snapshot, `\.modified$`, `^1\.2\.0~rc\.1$`, `^1\.2\.0~rc\.1` + snapshot} {
		if !regexp.MustCompile(want).MatchString(made[i]) {
			t.Errorf("version %d is %q, want %s", i, made[i], want)
		}
	}
	if last := made[len(made)-3]; last != "1.10.0" {
		t.Errorf("%q, want 1.10.0", last)
	}
	for i, a := range made[:len(made)-1] {
		b := made[i+1]
		if _, err := exec.LookPath("dpkg"); err == nil {
			if err := exec.Command("dpkg", "--compare-versions", a, "lt", b).Run(); err != nil {
				t.Errorf("dpkg does not think that %s comes before %s", a, b)
			}
		}
		if _, err := exec.LookPath("rpm"); err == nil {
			if got := run(t, "", "rpm", "--eval", `%{lua: print(rpm.vercmp("`+a+`", "`+b+`"))}`); got != "-1" {
				t.Errorf("rpm compares %s with %s as %s", a, b, got)
			}
		}
	}
}

// Without git, an archive says what it is of, and what is neither says that.
func TestVersionWithoutGit(t *testing.T) {
	t.Parallel()
	dir, git := repository(t)
	want, hash := run(t, dir, "bash", "build/scripts/version.sh", "version"), git("rev-parse", "HEAD")
	unpack := func() string {
		t.Helper()
		to := t.TempDir()
		git("archive", "-o", filepath.Join(to, "a.tar"), "HEAD")
		run(t, to, "tar", "xf", "a.tar")
		return to
	}
	archive := unpack()
	if got := run(t, archive, "bash", "build/scripts/version.sh", "version"); got != want {
		t.Errorf("the archive says %s, the repository %s", got, want)
	}
	if got := run(t, archive, "bash", "build/scripts/version.sh", "revision"); got != hash {
		t.Errorf("the archive says %s, the repository %s", got, hash)
	}
	git("tag", "v2.0.0")
	if got := run(t, unpack(), "bash", "build/scripts/version.sh", "version"); got != "2.0.0" {
		t.Errorf("the archive of v2.0.0 says %s", got)
	}

	// A repository around it is somebody else's.
	around := filepath.Join(dir, "vendored")
	for _, name := range []string{"build/scripts/version.sh", "internal/cli/internal/version/archived.txt"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(around, name), string(text))
	}
	if got := run(t, around, "bash", "build/scripts/version.sh", "version"); got != "0.0.0~unknown" {
		t.Errorf("without git and archive: %s", got)
	}
	if got := run(t, around, "bash", "build/scripts/version.sh", "revision"); got != "unknown" {
		t.Errorf("without git and archive: %s", got)
	}
}
