// Copyright (c) The tfweaver authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// point is a measured value; broken says that some sessions did not end well.
type point struct {
	sessions int
	ratio    float64
	broken   bool
}

// curveKind chooses how a curve is drawn: the strategies in their order, then what
// no order can beat.
type curveKind int

const (
	serialCurve curveKind = iota
	uncoordinatedCurve
	groupCurve
	weaverCurve
	best
)

// curve is a line of a panel.
type curve struct {
	name   string
	kind   curveKind
	points []point
}

// panel is one workload.
type panel struct {
	title  string
	curves []curve
}

// Measures of the drawing, in pixels.
const (
	chartWidth  = 1180
	chartHeight = 560
	chartMargin = 28
	chartTop    = 124
	panelGap    = 18
	plotLeft    = 52
	plotRight   = 22
	plotTop     = 46
	plotBottom  = 50
	legendTop   = 92
)

const chartStyle = `<style>
text { font-family: system-ui, "Segoe UI", "DejaVu Sans", Verdana, sans-serif; font-size: 12px; fill: #1f2933; }
.title { font-size: 20px; font-weight: 600; }
.subtitle, .axis, .label { fill: #52606d; }
.panel { font-size: 15px; font-weight: 600; }
.axis { font-size: 11px; }
.right { text-anchor: end; }
.middle { text-anchor: middle; }
</style>
`

func colour(k curveKind) string {
	return []string{"#52678f", "#b00020", "#e0a526", "#1b7f79", "#8795a1"}[k]
}

// chart is an SVG document being written.
type chart struct {
	bytes.Buffer
	most, widest float64
}

func (c *chart) printf(format string, args ...any) { fmt.Fprintf(c, format, args...) }

func (c *chart) text(x, y float64, class, text string) {
	c.printf("<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">%s</text>\n", x, y, class, html.EscapeString(text))
}

// drawChart draws the panels side by side, with common logarithmic axes.
func drawChart(out io.Writer, panels []panel) error {
	c := &chart{most: 1, widest: 1}
	for _, p := range panels {
		for _, v := range p.curves {
			for _, at := range v.points {
				c.most, c.widest = max(c.most, at.ratio), max(c.widest, float64(at.sessions))
			}
		}
	}
	const title = "How long many sessions take together"
	c.printf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n", chartWidth, chartHeight, chartWidth, chartHeight)
	c.printf("<title>%s</title>\n%s<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n", title, chartStyle)
	c.text(chartMargin, 38, "title", title)
	c.text(chartMargin, 62, "subtitle", "Makespan of all sessions, as a multiple of the slowest one's critical path; virtual time, logarithmic axes")
	if len(panels) > 0 {
		c.legend(panels[0].curves)
	}
	width := (float64(chartWidth-2*chartMargin) - panelGap*float64(len(panels)-1)) / float64(max(len(panels), 1))
	for i, p := range panels {
		c.panel(p, chartMargin+float64(i)*(width+panelGap), width)
	}
	c.printf("</svg>\n")
	if _, err := out.Write(c.Bytes()); err != nil {
		return fmt.Errorf("write the chart: %w", err)
	}
	return nil
}

// legend explains the lines in one row.
func (c *chart) legend(curves []curve) {
	x := float64(chartMargin)
	for _, v := range curves {
		c.printf("<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" %s/>\n", x, legendTop-4, x+26, legendTop-4, stroke(v.kind))
		c.text(x+33, legendTop, "", v.name)
		x += 33 + 6.8*float64(len(v.name)) + 24
	}
	c.ring(x+5, legendTop-4, "#b00020")
	c.text(x+16, legendTop, "", "some sessions failed")
}

func stroke(k curveKind) string {
	s := fmt.Sprintf("fill=\"none\" stroke=\"%s\" stroke-width=\"2.2\" stroke-linejoin=\"round\"", colour(k))
	switch k {
	case best:
		s += " stroke-dasharray=\"5 4\""
	case weaverCurve:
		s = strings.Replace(s, "2.2", "3.4", 1)
	}
	return s
}

// plot is the place of a panel's curves.
type plot struct{ left, top, width, height, most, widest float64 }

// x and y leave no room at one session and at a ratio of one.
func (p plot) x(sessions float64) float64 {
	return p.left + p.width*math.Log(sessions)/math.Log(max(p.widest, 2))
}

func (p plot) y(ratio float64) float64 {
	return p.top + p.height*(1-math.Log(max(ratio, 1))/math.Log(max(p.most*1.2, 2)))
}

func (c *chart) panel(p panel, left, width float64) {
	height := float64(chartHeight - chartTop - chartMargin)
	c.printf("<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%.1f\" rx=\"8\" fill=\"#f7f8fa\" stroke=\"#d9dfe5\"/>\n", left, chartTop, width, height)
	c.text(left+14, chartTop+26, "panel", p.title)
	area := plot{left + plotLeft, chartTop + plotTop, width - plotLeft - plotRight, height - plotTop - plotBottom, c.most, c.widest}
	c.grid(area)
	for _, v := range p.curves {
		c.curve(v, area)
	}
}

// grid draws the powers of ten.
func (c *chart) grid(p plot) {
	for at := 1.0; at <= c.most*1.2; at *= 10 {
		y := p.y(at)
		c.printf("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#dde3e9\"/>\n", p.left, y, p.left+p.width, y)
		c.text(p.left-7, y+4, "axis right", fmt.Sprintf("%g\u00d7", at))
	}
	for at := 1.0; at <= c.widest; at *= 10 {
		x := p.x(at)
		c.printf("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#dde3e9\"/>\n", x, p.top, x, p.top+p.height+4)
		c.text(x, p.top+p.height+18, "axis middle", fmt.Sprintf("%g", at))
	}
	c.text(p.left+p.width/2, p.top+p.height+37, "label middle", "sessions")
}

func (c *chart) curve(v curve, p plot) {
	// What was finished although some sessions failed does not compare: it stands
	// by itself.
	var path []string
	for _, at := range v.points {
		if !at.broken {
			path = append(path, fmt.Sprintf("%.1f,%.1f", p.x(float64(at.sessions)), p.y(at.ratio)))
		}
	}
	if len(path) > 0 {
		c.printf("<polyline points=\"%s\" %s/>\n", strings.Join(path, " "), stroke(v.kind))
	}
	if v.kind == best {
		return
	}
	for _, at := range v.points {
		x, y := p.x(float64(at.sessions)), p.y(at.ratio)
		c.printf("<g><title>%s</title>\n", html.EscapeString(fmt.Sprintf("%s, %d sessions: %.2f times the critical path", v.name, at.sessions, at.ratio)))
		if at.broken {
			c.ring(x, y, colour(v.kind))
		} else {
			c.printf("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.2\" fill=\"%s\"/>\n", x, y, colour(v.kind))
		}
		c.printf("</g>\n")
	}
}

func (c *chart) ring(x, y float64, colour string) {
	c.printf("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.2\" fill=\"#ffffff\" stroke=\"%s\" stroke-width=\"2\"/>\n", x, y, colour)
}
