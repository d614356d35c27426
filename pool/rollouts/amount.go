package rollouts

// IntOrPercent is a number of machines, or a share of them.
type IntOrPercent struct {
	Value int
	// Percent is true if Value is a percentage of the wanted number of machines.
	Percent bool
}

// Up returns the number of machines; a percentage rounds up.
func (v IntOrPercent) Up(of int) int {
	if !v.Percent {
		return max(0, v.Value)
	}
	return (max(0, v.Value)*of + 99) / 100
}

// Down returns the number of machines; a percentage rounds down.
func (v IntOrPercent) Down(of int) int {
	if !v.Percent {
		return max(0, v.Value)
	}
	return max(0, v.Value) * of / 100
}
