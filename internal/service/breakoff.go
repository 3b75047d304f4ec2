package service

import (
	"net"
	"net/http"
)

// refuse resets the connection of a request that has no answer yet.
func refuse(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // the server closes the connection
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// breakOff ends an answer so that every client sees an error after exactly the bytes written so far. A
// reset would throw away bytes that are still on their way, and some browsers take an end between two
// chunks for a clean one; so the connection ends inside a chunk that promises more.
func breakOff(w http.ResponseWriter) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	_ = buffered.Flush()
	_, _ = conn.Write([]byte("1000\r\n"))
	_ = conn.Close()
}
