package library

import "context"

func extractPDF(context.Context, File) ([]block, error) {
	return nil, unreadable("it is no PDF that can be read")
}
