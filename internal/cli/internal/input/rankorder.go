package input

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/fabric"
	"github.com/weft-fabric/weft/internal/cli/internal/console"
	"github.com/weft-fabric/weft/internal/cli/internal/exit"
	"github.com/weft-fabric/weft/internal/jobfiles"
	"github.com/weft-fabric/weft/internal/names"
	"github.com/weft-fabric/weft/internal/words"
	"github.com/weft-fabric/weft/routing"
	"github.com/weft-fabric/weft/routing/engines"
	"github.com/weft-fabric/weft/traffic"
)

// rankOrders reads --rank-order; nil without.
func rankOrders(c *console.Console, f *fabric.Fabric, texts []string) ([]engines.RankOrder, error) {
	var orders []engines.RankOrder
	for _, text := range texts {
		for _, item := range names.SplitList(text) {
			order, err := rankOrder(c, f, strings.TrimSpace(item))
			if err != nil {
				return nil, err
			}
			if len(order.Ranks) < 2 {
				return nil, exit.Usage("--rank-order %s: %s; it takes two to talk", item, words.Plural(len(order.Ranks), "host adapter"))
			}
			orders = append(orders, order)
		}
	}
	return orders, nil
}

// rankOrder reads one order: its name, the hosts that it lists, or their file.
func rankOrder(c *console.Console, f *fabric.Fabric, item string) (engines.RankOrder, error) {
	hosts := routing.HCA.Endpoints(f)
	index := names.New(f)
	if slices.Contains(traffic.Orders, item) {
		order := engines.RankOrder{Name: item}
		if item == "rail" {
			order.Name = railNames(index)
		}
		ranks, err := traffic.Place(item, f, hosts, 0)
		order.Ranks = ranks
		return order, err
	}
	among, err := index.Endpoints(hosts)
	if err != nil {
		return engines.RankOrder{}, err
	}
	var ranks traffic.Placement
	if strings.Contains(item, "[") {
		ranks, err = jobfiles.Ranks(strings.NewReader(item), "--rank-order", among)
	} else {
		ranks, err = console.ReadFile(c, item, func(r io.Reader, name string) (traffic.Placement, error) {
			return jobfiles.Ranks(r, name, among)
		})
	}
	if errors.Is(err, fs.ErrNotExist) {
		return engines.RankOrder{}, exit.Usage("--rank-order %s: no such file, and no order: these are %s, and hosts as in node[001-128]", item, strings.Join(traffic.Orders, ", "))
	}
	return engines.RankOrder{Name: item, Ranks: jobfiles.Once(ranks)}, err
}

// railNames says which rails there are, and which of them not all hosts have.
func railNames(index *names.Index) string {
	rails, hosts := index.Rails(), len(index.Hosts())
	var each []string
	for i := range rails {
		text := rails[i].String()
		if text == "" {
			text = fmt.Sprintf("port %d", rails[i].Port)
		}
		if rails[i].Hosts < hosts {
			text += fmt.Sprintf(" on %d of %d hosts", rails[i].Hosts, hosts)
		}
		each = append(each, text)
	}
	const most = 8
	if len(each) > most {
		each = append(each[:most], fmt.Sprintf("%d more", len(each)-most))
	}
	return fmt.Sprintf("rail by rail: %s", strings.Join(each, ", "))
}
