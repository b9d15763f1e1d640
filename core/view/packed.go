package view

import "fmt"

// damageAlerts name the packed files that cannot be read to their end.
func damageAlerts(c *selection) []Alert {
	var list []Alert
	for i := range c.table.Sources() {
		d := c.table.Damage(i)
		if d == nil {
			continue
		}
		list = append(list, Alert{Code: "torn_tail", Count: 1,
			Text: fmt.Sprintf("%s %s. %s in front of it are unpacked and read; what is behind it is missing.",
				c.table.Name(i), d.Reason, count(d.Plain, "byte", "bytes")),
			Place: Text{Text: fmt.Sprintf("%s, byte %d of the packed file", c.table.Name(i), d.Packed), Mono: true},
			Help:  "The numbers hold what was read. gzip -t names the same place; another copy of the file may be whole.",
		})
	}
	return list
}
