module github.com/seed-76f09577/turnwire

go 1.25

require (
	github.com/google/uuid v1.6.0 // indirect
	github.com/hack-pad/safejs v0.1.0 // indirect
	github.com/stretchr/testify v1.12.1 // indirect
)
