// The README's example as a page.

import { createRoot } from "react-dom/client";
import { Chat } from "./example-ai-sdk.jsx";

createRoot(document.getElementById("root")).render(<Chat />);
