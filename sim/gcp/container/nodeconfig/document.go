package nodeconfig

import "github.com/muster-project/muster/sim/document"

// number returns the whole number at a path, 0 for none.
func number(d document.Object, path string) int {
	n, _ := document.Number(d, path)
	return n
}

// fraction returns the number at a path, 0 for none.
func fraction(d document.Object, path string) float64 {
	f, _ := document.Dig(d, path).(float64)
	return f
}
