// Package page gathers what there is to see of fabrics and their tables in one value,
// result.Report, and writes it as one HTML page that needs nothing but a browser.
//
// The page begins with the verdict and shows the fabric as a map with its loads, lanes,
// loops and paths. It has three layers, and each works without the next: text, tables and
// charts in HTML; maps and charts as drawings in SVG; and the program of package web, which
// makes the map one that can be moved, searched and asked for paths. The program reads the
// same value, compressed (pack.go). Nothing in a page leads outside: no address, no font, no
// picture is loaded.
//
// The same value gives the same page, byte for byte.
package page
