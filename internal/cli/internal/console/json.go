package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/cli/internal/version"
)

// Output is the form of a JSON output. The number in its schema rises when a field goes or
// changes its meaning; fields that are added do not change it. docs/json.md has every field.
type Output struct {
	Schema  string // what the output calls itself
	Command string // that prints it
	Form    any    // a value of its type
}

// outputOf finds the output whose form is of a value's type.
func (c *Console) outputOf(v any) (Output, error) {
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for _, o := range c.Outputs {
		if reflect.TypeOf(o.Form) == t {
			return o, nil
		}
	}
	return Output{}, exit.Internal("no JSON schema for %s", t)
}

// JSON prints a value for programs, with the warnings of the input.
func (c *Console) JSON(v any) error { return c.writeJSON(c.Stdout, v, c.Warnings) }

// WriteJSON writes a value for programs, as into a file of a folder.
func (c *Console) WriteJSON(w io.Writer, v any) error { return c.writeJSON(w, v, nil) }

// writeJSON writes a value with its schema and the version of weft before its own fields,
// and warnings where it has none of its own.
func (c *Console) writeJSON(w io.Writer, v any, warnings []string) error {
	o, err := c.outputOf(v)
	if err != nil {
		return err
	}
	text, err := encoded(v, "")
	if err != nil {
		return err
	}
	if rest, ok := bytes.CutPrefix(text, []byte("{\n")); ok {
		head := fmt.Sprintf("{\n  \"schema\": %q,\n", o.Schema)
		if !bytes.Contains(text, []byte("\n  \"version\": ")) { // version and status have one
			head += fmt.Sprintf("  \"version\": %q,\n", version.Current().Version)
		}
		if len(warnings) > 0 && !bytes.Contains(text, []byte("\n  \"warnings\": ")) { // info, route and the report have them
			list, err := encoded(warnings, "  ")
			if err != nil {
				return err
			}
			head += fmt.Sprintf("  \"warnings\": %s,\n", bytes.TrimSpace(list))
		}
		text = append([]byte(head), rest...)
	}
	_, err = w.Write(text)
	return err
}

// encoded is a value as JSON, whose lines after the first begin with a prefix.
func encoded(v any, prefix string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent(prefix, "  ")
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// Answer ends a command: it prints a result, v for programs or by forPeople. If found says that the
// result is a finding, the error that it returns has exit code 1 and no text.
func (c *Console) Answer(asJSON bool, v any, forPeople func() error, found bool) error {
	print := forPeople
	if asJSON {
		print = func() error { return c.JSON(v) }
	}
	if err := print(); err != nil || !found {
		return err
	}
	return &exit.Error{Code: exit.Found}
}

// Refuse ends a command that has no result: it prints v if asked for programs, and returns the error
// with exit code 1 that says why to people.
func (c *Console) Refuse(asJSON bool, v any, format string, args ...any) error {
	if asJSON {
		if err := c.JSON(v); err != nil {
			return err
		}
	}
	return exit.Finding(format, args...)
}
