// Package outputs makes the values of package result of what judges, plans and simulators
// found: names for numbers, words for verdicts; and says these values in sentences. The
// command, the daemons and the page say the same of the same thing because it is made here.
package outputs
