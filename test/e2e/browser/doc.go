// Package browser holds tests that open report pages in a real browser: Chromium, driven
// by playwright-core. make test installs both as root on Debian; elsewhere the tests skip.
package browser
