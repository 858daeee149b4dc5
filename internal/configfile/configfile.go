// Package configfile reads the configuration files of what runs unattended, weft serve and
// weft watch: strict YAML, one key a line. A configuration is a pointer to a struct whose
// fields have yaml tags; texts, whole numbers, times and Names are what they may be.
package configfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/weft-fabric/weft/format"
	"github.com/weft-fabric/weft/internal/reading"
	"github.com/weft-fabric/weft/internal/spell"
)

// Names is one name, several with commas between, or a list.
type Names []string

// UnmarshalYAML takes a text or a list.
func (n *Names) UnmarshalYAML(node *yaml.Node) error {
	var list []string
	if node.Kind == yaml.SequenceNode {
		if err := node.Decode(&list); err != nil {
			return err
		}
	} else {
		var text string
		if err := node.Decode(&text); err != nil {
			return err
		}
		list = strings.Split(text, ",")
	}
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	*n = list
	return nil
}

func (n Names) String() string { return strings.Join(n, ",") }

// atLine is how errors of Read, and those that Lines.At makes, begin.
var atLine = regexp.MustCompile(`^(?:\w+: )?line (\d+): `)

// In is an error of Read, or about a setting, with the name of the file: FILE:LINE: where its
// line is known.
func In(file string, err error) error {
	m := atLine.FindStringSubmatch(err.Error())
	if m == nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return &located{file + ":" + m[1] + ": " + err.Error()[len(m[0]):], err}
}

// located is an error whose text has its file and line.
type located struct {
	text string
	err  error
}

func (l *located) Error() string { return l.text }
func (l *located) Unwrap() error { return l.err }

// Lines is where in a file settings are, by key, from 1.
type Lines map[string]int

// Read reads a file into a configuration. Unknown keys, duplicate keys, values of the wrong
// kind, a second document and text that is not UTF-8 are errors, which name the line. aliases
// are other words for keys.
func Read(r io.Reader, to any, aliases map[string]string) (Lines, error) {
	text, err := reading.ReadUTF8(r, "", reading.MaxSettings)
	if bad := (*format.ParseError)(nil); errors.As(err, &bad) {
		return nil, fmt.Errorf("line %d: %s", bad.Line, bad.Msg)
	}
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(text))
	switch err := d.Decode(&document); {
	case errors.Is(err, io.EOF): // an empty file says nothing
		return nil, nil
	case err != nil:
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("the configuration is more than one YAML document")
	}
	all := document.Content[0]
	if all.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: settings are lines such as engine: auto", all.Line)
	}
	lines := Lines{}
	var wrong []string
	for i := 0; i < len(all.Content); i += 2 {
		key, value := all.Content[i], all.Content[i+1]
		if plain, ok := aliases[key.Value]; ok {
			key.Value = plain
		}
		if err := set(to, lines, key, value); err != nil {
			wrong = append(wrong, fmt.Sprintf("line %d: %v", key.Line, err))
		}
	}
	if wrong != nil {
		return nil, errors.New(strings.Join(wrong, "; "))
	}
	return lines, nil
}

// set stores a line of the file.
func set(config any, lines Lines, key, value *yaml.Node) error {
	keys, fields := fieldsOf(config)
	i := slices.Index(keys, key.Value)
	switch {
	case i < 0:
		return fmt.Errorf("field %s not found%s (there are %s)", key.Value, spell.Hint(key.Value, keys), strings.Join(keys, ", "))
	case lines[key.Value] > 0:
		return fmt.Errorf("%s stands in line %d already", key.Value, lines[key.Value])
	}
	lines[key.Value] = key.Line
	switch to := fields[i].Addr().Interface().(type) {
	case *time.Duration:
		d, err := time.ParseDuration(value.Value)
		if err != nil {
			return fmt.Errorf("%s: %q is no time; it is a number with a unit, such as 90s or 10m", key.Value, value.Value)
		}
		*to = d
	case *int:
		if value.Decode(to) != nil {
			return fmt.Errorf("%s: %q is no whole number", key.Value, value.Value)
		}
	case *Names:
		if value.Decode(to) != nil {
			return fmt.Errorf("%s is one name, several with commas between, or a list of names", key.Value)
		}
	default:
		if value.Decode(to) != nil {
			return fmt.Errorf("%s is one word", key.Value)
		}
	}
	return nil
}

// fieldsOf is the fields of a configuration that have keys.
func fieldsOf(config any) (keys []string, fields []reflect.Value) {
	v := reflect.ValueOf(config).Elem()
	for i := range v.NumField() {
		if key := v.Type().Field(i).Tag.Get("yaml"); key != "" {
			keys, fields = append(keys, key), append(fields, v.Field(i))
		}
	}
	return keys, fields
}

// Keys is the keys of a configuration, in the order of its fields.
func Keys(config any) []string {
	keys, _ := fieldsOf(config)
	return keys
}

// Take sets a setting to what it is in another configuration of the same type.
func Take(key string, to, from any) {
	keys, mine := fieldsOf(to)
	_, others := fieldsOf(from)
	i := slices.Index(keys, key)
	mine[i].Set(others[i])
}

// Wrong is the error for an invalid setting.
type Wrong struct {
	Key  string
	Line int // in its file; 0: it is from no file
	Err  error
}

func (w *Wrong) Error() string {
	text := w.Err.Error()
	if !strings.HasPrefix(text, w.Key) {
		text = w.Key + ": " + text
	}
	if w.Line > 0 {
		text = fmt.Sprintf("line %d: %s", w.Line, text)
	}
	return text
}

// Unwrap is what is wrong.
func (w *Wrong) Unwrap() error { return w.Err }

// At adds to an error where in its file the setting is: a *Wrong.
func (l Lines) At(key string, err error) error {
	if err == nil {
		return nil
	}
	return &Wrong{Key: key, Line: l[key], Err: err}
}

// Absolute refuses a path that depends on the working directory.
func Absolute(key, path string) error {
	if !strings.HasPrefix(path, "/") {
		return fmt.Errorf("%s %q is no absolute path", key, path)
	}
	return nil
}

// NotNegative refuses a time below zero.
func NotNegative(key string, d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("%s %v is negative", key, d)
	}
	return nil
}
