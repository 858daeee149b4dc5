module github.com/weft-fabric/weft

go 1.26
