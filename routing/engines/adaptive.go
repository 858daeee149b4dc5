package engines

import "fmt"

// NoTables is the error if tables are wanted of an adaptive engine.
type NoTables struct{ Name string }

func (e *NoTables) Error() string {
	return fmt.Sprintf("%s has no tables: its switches choose among several ports as packets come", e.Name)
}
