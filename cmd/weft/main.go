// Command weft routes lossless networks and proves that they cannot deadlock.
package main

import "github.com/weft-fabric/weft/internal/cli"

func main() { cli.Main() }
