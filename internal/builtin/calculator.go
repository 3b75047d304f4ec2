package builtin

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// maxExpression bounds an expression in bytes, and so the depth of its tree.
const maxExpression = 200

// Evaluate computes an arithmetic expression of decimal numbers, + - * / % ^ (or **), and parentheses.
// The result has up to 15 significant digits. Anything else that the language of the evaluator knows,
// and a result that is no number (1/0), is an error.
func Evaluate(expression string) (string, error) {
	if err := checkArithmetic(expression); err != nil {
		return "", err
	}
	program, err := expr.Compile(expression,
		expr.DisableAllBuiltins(),
		expr.Patch(floats{}),
		// The language's own % is for integers only and panics on zero.
		expr.Function("mod", func(args ...any) (any, error) {
			return math.Mod(args[0].(float64), args[1].(float64)), nil
		}, math.Mod),
		expr.Operator("%", "mod"),
		expr.AsFloat64(),
	)
	if err != nil {
		return "", errors.New("this is not an arithmetic expression")
	}
	out, err := expr.Run(program, nil)
	if err != nil {
		return "", fmt.Errorf("evaluate: %w", err)
	}
	value, ok := out.(float64)
	switch {
	case !ok:
		return "", errors.New("the result is not a number")
	case (math.IsInf(value, 0) || math.IsNaN(value)) && dividesByZero(expression):
		return "", errors.New("division by zero")
	case math.IsNaN(value):
		return "", errors.New("the result is not a real number")
	case math.IsInf(value, 0):
		return "", errors.New("the result is too large")
	}
	return formatNumber(value), nil
}

func formatNumber(value float64) string {
	if value == math.Trunc(value) && math.Abs(value) < 1e15 {
		return strconv.FormatFloat(value+0, 'f', 0, 64)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'g', 15, 64), 64)
	if err != nil {
		return strconv.FormatFloat(value, 'g', 15, 64)
	}
	return strconv.FormatFloat(rounded, 'g', -1, 64)
}

// checkArithmetic refuses whatever is not arithmetic, before anything is compiled.
func checkArithmetic(expression string) error {
	if len(expression) > maxExpression {
		return fmt.Errorf("the expression is longer than %d bytes", maxExpression)
	}
	tree, err := parser.Parse(expression)
	if err != nil {
		return errors.New("this is not an arithmetic expression")
	}
	_, err = operations(tree.Node)
	return err
}

// operations counts the binary operators of a tree that holds nothing but arithmetic.
func operations(node ast.Node) (int, error) {
	switch n := node.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return 0, nil
	case *ast.UnaryNode:
		if n.Operator == "+" || n.Operator == "-" {
			return operations(n.Node)
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "+", "-", "*", "/", "%", "^", "**":
			left, err := operations(n.Left)
			if err != nil {
				return 0, err
			}
			right, err := operations(n.Right)
			return left + right + 1, err
		}
	}
	return 0, errors.New("only numbers, + - * / % ^ and parentheses are understood")
}

// floats makes every number a float64: the language's integers wrap around silently.
type floats struct{}

func (floats) Visit(node *ast.Node) {
	if n, ok := (*node).(*ast.IntegerNode); ok {
		ast.Patch(node, &ast.FloatNode{Value: float64(n.Value)})
	}
}

// dividesByZero tells a result that is no number because of a division from one that overflows.
func dividesByZero(expression string) bool {
	tree, err := parser.Parse(expression)
	if err != nil {
		return false
	}
	found := zeroDivisor{}
	ast.Walk(&tree.Node, &found)
	return found.yes
}

type zeroDivisor struct{ yes bool }

func (z *zeroDivisor) Visit(node *ast.Node) {
	n, ok := (*node).(*ast.BinaryNode)
	if !ok || (n.Operator != "/" && n.Operator != "%") {
		return
	}
	if divisor, err := Evaluate(n.Right.String()); err == nil && divisor == "0" {
		z.yes = true
	}
}
