// Package clock reads the time of the day, which an operator, NTP or a virtual machine may set
// at any moment. How long something takes is measured with time.Since, which such jumps do not
// change.
package clock

import "time"

// Clock tells the time of the day. The zero value is the machine's clock; tests set their own.
type Clock func() time.Time

// Now is the time of the day.
func (c Clock) Now() time.Time {
	if c == nil {
		return time.Now()
	}
	return c()
}
