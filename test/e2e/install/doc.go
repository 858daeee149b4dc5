// Package install tests what make install, make package and make rpm put on a
// system. It has no code of its own.
//
// A package is installed, upgraded, removed and purged by dpkg or rpm itself, on a
// copy of this very system: an overlay over the root folder, which is thrown away,
// so that nothing is left of it here. That takes root; without, and in short mode,
// those tests skip.
//
// There is no systemd in it. What the unit starts is started as the unit says, by
// hand: its command, as its user, with the folders that systemd would have made and
// a socket that hears that the daemon is ready.
package install
