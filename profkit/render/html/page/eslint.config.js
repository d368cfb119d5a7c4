import js from "@eslint/js";
import parser from "@typescript-eslint/parser";
import globals from "globals";

export default [
  { ignores: ["build/"] },
  js.configs.recommended,
  {
    linterOptions: { reportUnusedDisableDirectives: "error" },
    languageOptions: { ecmaVersion: 2024, sourceType: "module" },
    rules: {
      "array-callback-return": "error",
      "consistent-return": "error",
      curly: ["error", "multi-line"],
      "default-case-last": "error",
      eqeqeq: "error",
      "max-len": ["error", { code: 110, ignoreUrls: true }],
      "max-lines": ["error", 400],
      "no-duplicate-imports": ["error", { allowSeparateTypeImports: true }],
      "no-eval": "error",
      "no-implicit-globals": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-param-reassign": "error",
      "no-restricted-properties": [
        "error",
        ...["innerHTML", "outerHTML", "insertAdjacentHTML", "write", "writeln"].map((property) => ({
          property, message: "Texts of a profile must not become markup; use make().",
        })),
      ],
      "no-self-compare": "error",
      "no-shadow": "error",
      // The compiler reports them, and knows types.
      "no-unused-vars": "off",
      "no-use-before-define": ["error", { functions: false, classes: true, variables: false }],
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
      radix: "error",
    },
  },
  { files: ["**/*.ts"], languageOptions: { parser, parserOptions: { lib: ["es2023", "dom"] } } },
  { files: ["scripts/**"], languageOptions: { globals: globals.browser } },
  { files: ["*.js", "tests/**"], languageOptions: { globals: globals.node } },
];
