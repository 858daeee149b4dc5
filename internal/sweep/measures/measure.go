package measures

import "strings"

// Measure is something to measure with its settings, all of them, in the order of the
// table.
type Measure struct {
	Name     string    `json:"name"`
	Settings []Setting `json:"settings,omitempty"`
}

// Setting is a name with its value.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Setting is the value of a setting.
func (m *Measure) Setting(key string) string {
	for _, s := range m.Settings {
		if s.Name == key {
			return s.Value
		}
	}
	return ""
}

// Text is the settings as key=value with commas between.
func (m *Measure) Text() string { return Joined(m.Settings) }

// Joined is settings as key=value with commas between.
func Joined(all []Setting) string {
	list := make([]string, len(all))
	for i, s := range all {
		list[i] = s.Name + "=" + s.Value
	}
	return strings.Join(list, ",")
}

// Parse is the measure of a row of results.
func Parse(name, settings string) Measure {
	m := Measure{Name: name}
	for pair := range strings.SplitSeq(settings, ",") {
		if key, value, ok := strings.Cut(pair, "="); ok {
			m.Settings = append(m.Settings, Setting{key, value})
		}
	}
	return m
}

// Key tells the measures of a point apart.
func (m *Measure) Key() string { return m.Name + ":" + m.Text() }
