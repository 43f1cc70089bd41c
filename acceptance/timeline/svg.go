// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package timeline

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"time"
)

// Measures of the drawing, in pixels.
const (
	pageWidth    = 1180
	pageMargin   = 28
	headHeight   = 84
	panelGap     = 18
	panelHead    = 40
	laneHeight   = 38
	barHeight    = 26
	axisHeight   = 34
	laneNames    = 96
	letterWidth  = 6.6 // of a 12 px letter, on average
	innerPadding = 14
)

// SVG draws the panels below a title.
func SVG(out io.Writer, title, subtitle string, panels []Panel) error {
	d := drawing{axis: svgAxis{
		span: span(panels), left: pageMargin + innerPadding + laneNames,
		width: pageWidth - 2*pageMargin - 2*innerPadding - laneNames,
	}}
	height := headHeight + pageMargin - panelGap
	for _, p := range panels {
		height += panelHeight(p) + panelGap
	}
	d.open(height, title, subtitle, used(panels))
	top := headHeight
	for _, p := range panels {
		d.panel(p, top)
		top += panelHeight(p) + panelGap
	}
	d.printf("</svg>\n")
	if _, err := out.Write(d.Bytes()); err != nil {
		return fmt.Errorf("write timeline: %w", err)
	}
	return nil
}

func panelHeight(p Panel) int { return panelHead + len(p.Lanes)*laneHeight + axisHeight }

// svgAxis maps time to pixels.
type svgAxis struct {
	span        time.Duration
	left, width float64
}

func (a svgAxis) x(at time.Duration) float64 {
	return a.left + a.width*float64(at)/float64(a.span)
}

// drawing is an SVG document being written.
type drawing struct {
	bytes.Buffer
	axis svgAxis
}

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(d, format, args...) }

func (d *drawing) text(x, y float64, class, text string) {
	d.printf("<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">%s</text>\n", x, y, class, html.EscapeString(text))
}

const style = `<style>
text { font-family: system-ui, "Segoe UI", "DejaVu Sans", Verdana, sans-serif; font-size: 12px; fill: #1f2933; }
.title { font-size: 20px; font-weight: 600; }
.subtitle, .axis, .wait { fill: #52606d; }
.panel { font-size: 15px; font-weight: 600; }
.summary { font-size: 13px; text-anchor: end; }
.lane { text-anchor: end; }
.axis { font-size: 11px; text-anchor: middle; }
.wait { paint-order: stroke; stroke: #f7f8fa; stroke-width: 5px; stroke-linejoin: round; }
.light { fill: #ffffff; }
.alarm, .spared { fill: #b00020; font-weight: 600; paint-order: stroke; stroke: #f7f8fa; stroke-width: 5px; }
.spared { fill: #1b7f79; }
</style>
<defs><pattern id="hatch" width="7" height="7" patternTransform="rotate(45)" patternUnits="userSpaceOnUse">
<rect width="7" height="7" fill="#eef1f4"/><rect width="2.4" height="7" fill="#b8c2cc"/></pattern></defs>
`

func (d *drawing) open(height int, title, subtitle string, kinds map[Kind]bool) {
	d.printf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n", pageWidth, height, pageWidth, height)
	d.printf("<title>%s</title>\n%s", html.EscapeString(title), style)
	d.printf("<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n")
	d.text(pageMargin, 38, "title", title)
	d.text(pageMargin, 62, "subtitle", subtitle)
	d.legend(kinds)
}

// legend explains the colours, right of the title.
func (d *drawing) legend(kinds map[Kind]bool) {
	var shown []entry
	x := float64(pageWidth-pageMargin) + legendGap
	for _, e := range entries() {
		if kinds[e.kind] {
			shown = append(shown, e)
			x -= legendWidth(e.name)
		}
	}
	for _, e := range shown {
		if e.kind.moment() {
			d.cross(x+7, 34, fill(e.kind))
		} else {
			d.printf("<rect x=\"%.1f\" y=\"27\" width=\"14\" height=\"14\" rx=\"3\" fill=\"%s\"/>\n", x, fill(e.kind))
		}
		d.text(x+20, 38.5, "", e.name)
		x += legendWidth(e.name)
	}
}

// entry is what the legend says of a kind.
type entry struct {
	kind Kind
	name string
}

func entries() []entry {
	return []entry{
		{Group, "resource group"},
		{Network, "network"},
		{Subnet, "subnet"},
		{Machine, "machine is made"},
		{Removal, "machine is deleted"},
		{Waiting, "waits for another"},
		{Refused, "refused by the cloud"},
		{Spared, "refused before the cloud"},
	}
}

// used are the kinds that panels have.
func used(panels []Panel) map[Kind]bool {
	kinds := make(map[Kind]bool)
	for _, p := range panels {
		for _, l := range p.Lanes {
			for _, s := range l.Segments {
				kinds[s.Kind] = true
			}
		}
	}
	return kinds
}

// legendGap is the room between two entries of the legend.
const legendGap = 20

func legendWidth(name string) float64 { return 20 + letterWidth*float64(len(name)) + legendGap }

func fill(k Kind) string {
	switch k {
	case Group:
		return "#52678f"
	case Network:
		return "#1b7f79"
	case Subnet:
		return "#e0a526"
	case Machine:
		return "#52678f"
	case Removal:
		return "#8a5a9e"
	case Waiting:
		return "url(#hatch)"
	case Spared:
		return "#1b7f79"
	}
	return "#b00020"
}

// panel draws one policy with its upper edge at top.
func (d *drawing) panel(p Panel, top int) {
	height := panelHeight(p)
	d.printf("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"8\" fill=\"#f7f8fa\" stroke=\"#d9dfe5\"/>\n",
		pageMargin, top, pageWidth-2*pageMargin, height)
	d.text(pageMargin+innerPadding, float64(top)+26, "panel", p.Title)
	d.text(pageWidth-pageMargin-innerPadding, float64(top)+26, "summary", p.Summary)
	lanes := float64(top + panelHead)
	bottom := lanes + float64(len(p.Lanes)*laneHeight)
	d.grid(lanes, bottom)
	d.end(p.End, lanes, bottom)
	for n, l := range p.Lanes {
		d.lane(l, lanes+float64(n*laneHeight))
	}
}

// grid draws the axis and its vertical lines.
func (d *drawing) grid(top, bottom float64) {
	step := tick(d.axis.span)
	for at := time.Duration(0); at <= d.axis.span; at += step {
		x := d.axis.x(at)
		d.printf("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#dde3e9\"/>\n", x, top, x, bottom+4)
		d.text(x, bottom+19, "axis", fmt.Sprintf("%g s", at.Seconds()))
	}
}

// end marks when the last operation of a panel ended.
func (d *drawing) end(at time.Duration, top, bottom float64) {
	x := d.axis.x(at)
	d.printf("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#1f2933\" stroke-dasharray=\"4 3\"/>\n", x, top, x, bottom+4)
}

func (d *drawing) lane(l Lane, top float64) {
	d.text(d.axis.left-12, top+23, "lane", l.Name)
	for _, s := range l.Segments {
		if s.Kind.moment() {
			d.refusal(s, top)
			continue
		}
		d.bar(s, top+float64(laneHeight-barHeight)/2)
	}
}

// bar draws a segment with its label, if the label fits.
func (d *drawing) bar(s Segment, top float64) {
	from, to := d.axis.x(s.From), d.axis.x(s.To)
	width := max(to-from, 1.5)
	d.printf("<g><title>%s</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"4\" fill=\"%s\" stroke=\"#ffffff\"/>\n",
		html.EscapeString(s.Note), from, top, width, barHeight, fill(s.Kind))
	if label := fitting(s.Label, width-12); label != "" {
		d.text(from+9, top+17.5, labelClass(s.Kind), label)
	}
	d.printf("</g>\n")
}

func labelClass(k Kind) string {
	switch k {
	case Group, Network, Machine, Removal, Broken:
		return "light"
	case Waiting:
		return "wait"
	}
	return ""
}

// fitting is the label, shortened to a width in pixels, empty when nothing
// readable is left.
func fitting(label string, width float64) string {
	letters := []rune(label)
	most := int(width / letterWidth)
	switch {
	case len(letters) <= most:
		return label
	case most < 4:
		return ""
	}
	return string(letters[:most-1]) + "\u2026"
}

// refusal draws a refused call with the cloud's reason beside it, on the side
// that has room.
func (d *drawing) refusal(s Segment, top float64) {
	x, middle := d.axis.x(s.From), top+laneHeight/2
	d.printf("<g><title>%s</title>\n", html.EscapeString(s.Note))
	d.cross(x, middle, fill(s.Kind))
	class := "alarm"
	if s.Kind == Spared {
		class = "spared"
	}
	if room := d.axis.left + d.axis.width - x; letterWidth*float64(len(s.Label))+16 < room {
		d.text(x+13, middle+4.5, class, s.Label)
	} else {
		d.printf("<text x=\"%.1f\" y=\"%.1f\" class=\"%s\" text-anchor=\"end\">%s</text>\n", x-13, middle+4.5, class, html.EscapeString(s.Label))
	}
	d.printf("</g>\n")
}

func (d *drawing) cross(x, y float64, colour string) {
	d.printf("<path d=\"M%.1f %.1f l12 12 m0 -12 l-12 12\" stroke=\"%s\" stroke-width=\"3.2\" stroke-linecap=\"round\"/>\n", x-6, y-6, colour)
}
