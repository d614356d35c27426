// Package chart draws charts as SVG. Sizes are attributes and colors are classes, because the page's security policy allows neither inline
// styles nor scripts.
package chart

import (
	"fmt"
	"html/template"
	"strings"
	"time"
)

// Bar returns a horizontal bar of a part of a whole, with the text as its accessible name. An unknown part is an empty bar.
func Bar(part, whole *int32, text string) template.HTML {
	const width, height = 100, 10
	filled := 0.0
	if part != nil && whole != nil && *whole > 0 {
		filled = width * min(1, float64(*part)/float64(*whole))
	}
	class := "bar"
	if part != nil && whole != nil && *part >= *whole {
		class += " full"
	}
	// Every value is a number or escaped.
	return template.HTML(fmt.Sprintf(`<svg class="%s" role="img" viewBox="0 0 %d %d" width="%d" height="%d" aria-label="%s">`+
		`<rect class="track" width="%d" height="%d" rx="3"/><rect class="fill" width="%.1f" height="%d" rx="3"/></svg>`,
		class, width, height, width, height, template.HTMLEscapeString(text), width, height, filled, height))
}

// Point is a value from a time on.
type Point struct {
	At    time.Time
	Value float64
}

// Series is one line of a chart. Class is the class of its color.
type Series struct {
	Name, Class string
	Points      []Point
}

const (
	// Sizes of a chart in its own units.
	chartWidth, chartHeight  = 640, 180
	left, right, top, bottom = 36, 8, 8, 24
	plotWidth, plotHeight    = chartWidth - left - right, chartHeight - top - bottom
	// gridLines is the greatest number of lines for values.
	gridLines = 4
)

// Steps returns a chart of values that hold until the next one, between two times. The text is its accessible name.
func Steps(from, to time.Time, text string, series ...Series) template.HTML {
	most := 1.0
	for _, s := range series {
		for _, p := range s.Points {
			most = max(most, p.Value)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart" role="img" viewBox="0 0 %d %d" aria-label="%s">`, chartWidth, chartHeight,
		template.HTMLEscapeString(text))
	y := func(v float64) float64 { return top + plotHeight*(1-v/most) }
	step := gridStep(most)
	for v := 0.0; v <= most; v += step {
		fmt.Fprintf(&b, `<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text x="%d" y="%.1f" text-anchor="end">%g</text>`,
			left, chartWidth-right, y(v), y(v), left-6, y(v)+4, v)
	}
	span := max(to.Sub(from).Seconds(), 1)
	x := func(at time.Time) float64 {
		return left + plotWidth*min(1, max(0, at.Sub(from).Seconds()/span))
	}
	for _, s := range series {
		if len(s.Points) > 0 {
			fmt.Fprintf(&b, `<path class="line %s" d="%s"/>`, template.HTMLEscapeString(s.Class), path(s.Points, from, to, x, y))
		}
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d">%s ago</text><text x="%d" y="%d" text-anchor="end">now</text></svg>`,
		left, chartHeight-6, short(to.Sub(from)), chartWidth-right, chartHeight-6)
	return template.HTML(b.String())
}

// path draws the points as steps.
func path(points []Point, from, to time.Time, x func(time.Time) float64, y func(float64) float64) string {
	var b strings.Builder
	for k, p := range points {
		switch {
		case b.Len() == 0 && k+1 < len(points) && points[k+1].At.Before(from):
			continue // outside of the chart
		case b.Len() == 0:
			fmt.Fprintf(&b, "M%.1f %.1f", x(p.At), y(p.Value))
		default:
			fmt.Fprintf(&b, "H%.1fV%.1f", x(p.At), y(p.Value))
		}
	}
	fmt.Fprintf(&b, "H%.1f", x(to))
	return b.String()
}

// gridStep returns a round distance of at most gridLines lines up to most.
func gridStep(most float64) float64 {
	step := 1.0
	for {
		for _, factor := range []float64{1, 2, 5} {
			if most/(step*factor) <= gridLines {
				return step * factor
			}
		}
		step *= 10
	}
}

// short returns a duration in its largest unit.
func short(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return fmt.Sprintf("%g h", float64(d.Round(time.Hour/10))/float64(time.Hour))
	case d >= time.Minute:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d s", int(d.Seconds()))
}
