package watch

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func fileOf(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The configuration that is installed is right, and has every setting.
func TestInstalledConfiguration(t *testing.T) {
	t.Parallel()
	text := fileOf(t, "build/packaging/watch.yaml")
	c, err := ReadConfig(strings.NewReader(text))
	if err == nil {
		c, err = c.Check()
	}
	if err != nil || c.Every != DefaultEvery || c.Settle != DefaultSettle || c.Keep != DefaultKeep || c.Metrics == "" {
		t.Errorf("%+v, %v", c, err)
	}
	with := regexp.MustCompile(`(?m)^(folder|ethernet|collect|vrf|lossless_priorities|silent|pins|pause_rate):.*\n`).ReplaceAllString(regexp.MustCompile(`(?m)^#((\w+|  -)[: ])`).ReplaceAllString(text, "$1"), "")
	if c, err = ReadConfig(strings.NewReader(with)); err == nil {
		_, err = c.Check()
	}
	if err != nil || len(c.Commands) != 2 || c.Expect == "" {
		t.Errorf("the examples mean %+v, %v", c, err)
	}
	other := regexp.MustCompile(`(?m)^(folder|conf|log):.*\n`).ReplaceAllString(regexp.MustCompile(`(?m)^#((ethernet|collect|vrf|lossless_priorities|silent|pins|pause_rate):)`).ReplaceAllString(text, "$1"), "")
	if c, err = ReadConfig(strings.NewReader(other)); err == nil {
		c, err = c.Check()
	}
	if err != nil || c.Silent != DefaultSilent || c.PauseRate != DefaultPauseRate || c.Timeout != DefaultCollect {
		t.Errorf("the examples of Ethernet mean %+v, %v", c, err)
	}
	for _, key := range regexp.MustCompile(`yaml:"(\w+)"`).FindAllStringSubmatch(fileOf(t, "internal/watch/config.go"), -1) {
		if key[1] != "fabric" && key[1] != "engine" && !regexp.MustCompile(`(?m)^#?`+key[1]+`:`).MatchString(text) {
			t.Errorf("there is no %s", key[1])
		}
	}
}

// The page explains every alarm, and alert rules and dashboard ask for metrics that exist.
func TestEverythingIsExplained(t *testing.T) {
	t.Parallel()
	page, doc := fileOf(t, "docs/watch.md"), fileOf(t, "internal/watch/doc.go")
	for _, k := range Kinds {
		if !strings.Contains(page, "| `"+k+"` |") || !strings.Contains(doc, "\t"+k+" ") {
			t.Errorf("%s is not explained", k)
		}
	}
	families, err := newMetrics().registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"weft_watch_link_routes": true, "weft_watch_missing": true, "weft_watch_link_degraded": true, "weft_watch_engine_info": true, "weft_watch_look_seconds_bucket": true, "weft_watch_pfc_frames": true, "weft_watch_pfc_dropped_packets": true, "weft_watch_cable_trouble": true}
	for _, f := range families {
		known[f.GetName()] = true
	}
	for _, name := range []string{"build/packaging/monitoring/weft-watch.rules.yaml", "build/packaging/monitoring/weft-watch.grafana.json", "build/packaging/monitoring/weft-watch-ethernet.grafana.json", "docs/watch.md"} {
		for _, metric := range regexp.MustCompile(`weft_watch_\w+`).FindAllString(fileOf(t, name), -1) {
			if !known[metric] {
				t.Errorf("%s: there is no %s", name, metric)
			}
		}
	}
}

// What is installed fits together and to docs/opensm.md: where OpenSM's files are, where the daemon keeps its tables, and where
// Prometheus finds either.
func TestSettingsAgree(t *testing.T) {
	t.Parallel()
	setting := func(name, key string) string {
		m := regexp.MustCompile(`(?m)^#?` + key + `: (\S+)$`).FindStringSubmatch(fileOf(t, name))
		if m == nil {
			t.Fatalf("%s: no %s", name, key)
		}
		return m[1]
	}
	const watch, serve = "build/packaging/watch.yaml", "build/packaging/weft.yaml"
	guide := fileOf(t, "docs/opensm.md")
	for _, c := range []struct{ what, has, in string }{
		{"the configuration of OpenSM", "--conf " + setting(watch, "conf"), guide},
		{"OpenSM's dumps", setting(watch, "folder") + "/opensm-lfts.dump", guide},
		{"OpenSM's log", setting(watch, "folder") + "/opensm.log", fileOf(t, watch)},
		{"the tables handed over", setting(serve, "state") + "/last-good", setting(watch, "expect")},
		{"the tables handed over", setting(serve, "state") + "/last-good/paths.psl", guide},
		{"the daemon's metrics", "\nmetrics: " + setting(serve, "metrics"), fileOf(t, serve)},
		{"the daemon's metrics", setting(serve, "metrics"), fileOf(t, "build/packaging/monitoring/prometheus.yaml")},
		{"the daemon's metrics", "metrics: " + setting(serve, "metrics"), guide},
		{"the metrics of the watch", setting(watch, "metrics"), fileOf(t, "build/packaging/monitoring/prometheus.yaml")},
	} {
		if !strings.Contains(c.in, c.has) {
			t.Errorf("%s: nobody says %q", c.what, c.has)
		}
	}
}
