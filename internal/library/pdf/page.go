package pdf

import (
	"errors"
	"math"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

const (
	maxSteps  = 20_000_000 // operators run in a file
	formSteps = 100        // what a form counts for: two that show each other double with each step
	maxValues = 64         // operands kept of one operator
	maxStates = 1000       // graphics states kept by q
)

// matrix is a transformation [a b c d e f] (ISO 32000-1, 8.3.3).
type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

// times is m, and then n.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// state is the part of the graphics state that places text (ISO 32000-1, 9.3).
type state struct {
	ctm                  matrix
	font                 *font
	size                 float64
	charSpace, wordSpace float64
	scale, leading, rise float64
}

// painter runs content streams and puts down the text that they show.
type painter struct {
	d         *document
	to        *layout
	now       state
	saved     []state
	tm, line  matrix // text matrix, text line matrix
	resources types.Dict
	depth     int
}

// pageText runs a page.
func (d *document) pageText(p leaf) (string, error) {
	content, err := d.content(p.page["Contents"])
	if err != nil {
		return "", err
	}
	run := painter{d: d, to: &layout{}, now: state{ctm: identity, scale: 1}, tm: identity, line: identity, resources: p.resources}
	err = run.content(content)
	if err == nil {
		err = run.annotations(d.array(p.page["Annots"]))
	}
	text := run.to.text()
	if d.text += len(text); d.text > maxTextBytes {
		return "", ErrLarge
	}
	return text, err
}

func (p *painter) content(content []byte) error {
	l := lexer{src: content}
	var operands []any
	for {
		v, ok := l.next()
		if !ok {
			return nil
		}
		op, isOperator := v.(operator)
		if !isOperator {
			if len(operands) < maxValues {
				operands = append(operands, v)
			}
			continue
		}
		if p.d.steps++; p.d.ctx.Err() != nil {
			return p.d.ctx.Err()
		}
		if p.d.steps > maxSteps || p.to.size() > maxTextBytes {
			return ErrLarge
		}
		if op == "ID" {
			l.skipImage()
		} else if err := p.run(op, operands); err != nil {
			return err
		}
		operands = operands[:0]
	}
}

// run runs one operator. One whose operands are missing does nothing.
func (p *painter) run(op operator, operands []any) error {
	n := numbers(operands)
	switch op {
	case "q":
		if len(p.saved) < maxStates {
			p.saved = append(p.saved, p.now)
		}
	case "Q":
		if last := len(p.saved) - 1; last >= 0 {
			p.now, p.saved = p.saved[last], p.saved[:last]
		}
	case "cm":
		if len(n) == 6 {
			p.now.ctm = matrix(n).times(p.now.ctm)
		}
	case "BT":
		p.tm, p.line = identity, identity
	case "Tf":
		if len(operands) == 2 {
			p.setFont(operands[0])
			p.now.size = last(n, p.now.size)
		}
	case "Tc":
		p.now.charSpace = last(n, 0)
	case "Tw":
		p.now.wordSpace = last(n, 0)
	case "Tz":
		p.now.scale = last(n, 100) / 100
	case "TL":
		p.now.leading = last(n, 0)
	case "Ts":
		p.now.rise = last(n, 0)
	case "Td", "TD":
		if len(n) == 2 {
			if op == "TD" {
				p.now.leading = -n[1]
			}
			p.moveLine(n[0], n[1])
		}
	case "Tm":
		if len(n) == 6 {
			p.tm, p.line = matrix(n), matrix(n)
		}
	case "T*":
		p.moveLine(0, -p.now.leading)
	case "Tj", "TJ":
		p.show(operands)
	case "'":
		p.moveLine(0, -p.now.leading)
		p.show(operands)
	case `"`:
		if len(n) == 2 {
			p.now.wordSpace, p.now.charSpace = n[0], n[1]
		}
		p.moveLine(0, -p.now.leading)
		p.show(operands)
	case "Do":
		return p.do(operands)
	}
	return nil
}

func numbers(operands []any) []float64 {
	var n []float64
	for _, o := range operands {
		if f, ok := o.(float64); ok && !math.IsNaN(f) && !math.IsInf(f, 0) {
			n = append(n, f)
		}
	}
	return n
}

func last(n []float64, otherwise float64) float64 {
	if len(n) == 0 {
		return otherwise
	}
	return n[len(n)-1]
}

func (p *painter) moveLine(x, y float64) {
	p.line = matrix{1, 0, 0, 1, x, y}.times(p.line)
	p.tm = p.line
}

func (p *painter) setFont(o any) {
	n, _ := o.(name)
	p.now.font = p.d.font(p.d.dict(p.resources["Font"])[string(n)])
}

// show shows a string, or an array of strings and of the distances between them.
func (p *painter) show(operands []any) {
	for _, o := range operands {
		switch o := o.(type) {
		case text:
			p.showText(o)
		case []any:
			for _, each := range o {
				switch each := each.(type) {
				case text:
					p.showText(each)
				case float64:
					p.advance(-each / 1000 * p.now.size * p.now.scale)
				}
			}
		}
	}
}

func (p *painter) advance(x float64) { p.tm = matrix{1, 0, 0, 1, x, 0}.times(p.tm) }

func (p *painter) showText(s text) {
	if p.now.font == nil {
		return
	}
	p.now.font.glyphs(s, func(g glyph) {
		at := matrix{1, 0, 0, 1, 0, p.now.rise}.times(p.tm).times(p.now.ctm)
		wide := g.width / 1000 * p.now.size * p.now.scale
		if g.text == "" {
			p.d.undecoded++
		}
		on := wide + p.now.charSpace*p.now.scale
		if g.space {
			on += p.now.wordSpace * p.now.scale
		}
		p.to.put(g.text, at, wide, math.Abs(p.now.size))
		p.advance(on)
	})
}

// annotations shows what was written on the page: the fields of a form and free text. Each is where its
// rectangle is, and as its appearance says (ISO 32000-1, 12.5.5).
func (p *painter) annotations(list types.Array) error {
	for _, o := range list {
		dict := p.d.dict(o)
		if kind := p.d.name(dict["Subtype"]); kind != "Widget" && kind != "FreeText" {
			continue
		}
		appearance := p.d.dict(dict["AP"])["N"]
		if states, ok := p.d.get(appearance).(types.Dict); ok {
			appearance = states[p.d.name(dict["AS"])]
		}
		p.now = state{ctm: identity, scale: 1}
		if at := p.d.array(dict["Rect"]); len(at) == 4 {
			p.now.ctm[4], p.now.ctm[5] = p.d.number(at[0], 0), p.d.number(at[1], 0)
		}
		if err := p.form(appearance); err != nil {
			return err
		}
	}
	return nil
}

// do shows an external object, of which forms have text.
func (p *painter) do(operands []any) error {
	if len(operands) != 1 {
		return nil
	}
	n, _ := operands[0].(name)
	object := p.d.dict(p.resources["XObject"])[string(n)]
	if p.d.name(p.d.dict(object)["Subtype"]) != "Form" {
		return nil
	}
	return p.form(object)
}

// form runs a form's content (ISO 32000-1, 8.10), in the state of its place.
func (p *painter) form(object types.Object) error {
	if p.depth == maxDepth {
		return nil
	}
	p.d.steps += formSteps
	dict := p.d.dict(object)
	content, err := p.d.stream(object)
	if err != nil {
		if errors.Is(err, ErrLarge) {
			return err
		}
		return nil
	}
	before := *p
	p.depth++
	if own := p.d.dict(dict["Resources"]); own != nil {
		p.resources = own
	}
	if m := p.d.array(dict["Matrix"]); len(m) == 6 {
		var place matrix
		for i := range place {
			place[i] = p.d.number(m[i], identity[i])
		}
		p.now.ctm = place.times(p.now.ctm)
	}
	p.saved = nil
	err = p.content(content)
	*p = before
	return err
}
