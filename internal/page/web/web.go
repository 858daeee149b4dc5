// Package web has what a report's page is made of: its frame, its style, and the program
// that makes the map one to move in. The program is written in TypeScript (src) and bundled
// into one file, dist/report.js, which is kept beside its source, so that building weft
// takes no Node; make web bundles it anew.
package web

import _ "embed" // the files

// Page is the frame, a template of package html/template.
//
//go:embed page.html
var Page string

// Style is how pages look.
//
//go:embed style.css
var Style string

// Script is the program.
//
//go:embed dist/report.js
var Script string

// Licenses is the licences of what is bundled into the program.
//
//go:embed dist/licenses.txt
var Licenses string
