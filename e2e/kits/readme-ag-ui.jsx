// The README's example as a page.

import { createRoot } from "react-dom/client";
import { useState } from "react";
import { ask } from "./example-ag-ui.jsx";

function Page() {
  const [question, write] = useState("");
  const [answer, show] = useState("");
  return (
    <form onSubmit={(event) => (event.preventDefault(), ask(question, show))}>
      {question} {answer}
      <input onChange={(event) => write(event.target.value)} /> <button>Send</button>
    </form>
  );
}

createRoot(document.getElementById("root")).render(<Page />);
