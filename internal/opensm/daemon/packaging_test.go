package daemon

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

func file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The configuration that is installed says what it would be without, and every
// setting is in it.
func TestInstalledConfiguration(t *testing.T) {
	t.Parallel()
	text := file(t, "build/packaging/weft.yaml")
	all := regexp.MustCompile(`(?m)^#(\w+: )`).ReplaceAllString(text, "$1")
	c, err := ReadConfig(strings.NewReader(strings.Replace(all, "keep: least", "keep: balanced", 1))) // rebalance is for that
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.check()
	if err != nil {
		t.Fatal(err)
	}
	if s.Budget != 10*time.Second || len(s.Roots) != 1 || len(s.weights) != 2 {
		t.Errorf("the examples mean %+v", c)
	}
	if s.Engine.String() != DefaultEngines.String() || s.limit != defaultLimit || s.Metrics == "" || s.Group != "weft" {
		t.Errorf("%+v", c)
	}
	for _, key := range regexp.MustCompile(`yaml:"(\w+)"`).FindAllStringSubmatch(file(t, "internal/opensm/daemon/config.go"), -1) {
		if !regexp.MustCompile(`(?m)^#?` + key[1] + `: `).MatchString(text) {
			t.Errorf("there is no %s", key[1])
		}
	}
}

// The guide explains every error that the plugin can log, and names the socket that
// the plugin looks for.
func TestTheGuideExplainsEveryError(t *testing.T) {
	t.Parallel()
	guide, source := file(t, "docs/opensm.md"), file(t, "plugin/weft.c")+file(t, "plugin/options.c")
	codes := regexp.MustCompile(`ERR (W\d+)`).FindAllStringSubmatch(source, -1)
	if len(codes) == 0 {
		t.Fatal("the plugin has no errors")
	}
	for _, code := range codes {
		if n := code[1]; !strings.Contains(guide, n) && (n < "W010" || n > "W017") { // told of as a range
			t.Errorf("%s is not explained", n)
		}
	}
	socket := regexp.MustCompile(`DEFAULT_SOCKET "(.*)"`).FindStringSubmatch(source)
	if socket == nil || !strings.Contains(file(t, "build/packaging/weft.yaml"), "socket: "+socket[1]+"\n") || !strings.Contains(file(t, "internal/cli/opensm/serve.go"), `"`+socket[1]+`"`) {
		t.Errorf("the plugin asks at %q, the daemon answers elsewhere", socket)
	}
}
